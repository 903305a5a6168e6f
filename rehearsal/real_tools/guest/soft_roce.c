/* Preloaded into the tools, so that Soft-RoCE on an emulated processor does as an InfiniBand HCA does, and takes no
 * longer:
 * - It takes seven retries, which all tools ask for, as endless, and here it gives up; a packet has 0.27 s, not 0.07 s.
 * - Of each message no more than 64 KiB is sent. The tool knows nothing of that, so no figure here means anything.
 * - perftest fills its buffers with rand(), a byte at a time.
 * - Who polls and finds nothing sleeps, each time twice as long. All tools poll without a pause, and a server of
 *   ibv_rc_pingpong whose packets are lost does so for ever: on an emulated processor it takes the time that the
 *   packets need. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <time.h>

enum { MOST_BYTES = 65536, RETRIES = 6, TIMEOUT = 16, FIRST_PAUSE = 50000, LONGEST_PAUSE = 12800000 /* nanoseconds */ };

static int (*post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
static int (*poll)(struct ibv_cq *, int, struct ibv_wc *);

static int post_less(struct ibv_qp *qp, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
	for (struct ibv_send_wr *wr = first; wr; wr = wr->next)
		for (int i = 0; i < wr->num_sge; i++)
			if (wr->sg_list[i].length > MOST_BYTES)
				wr->sg_list[i].length = MOST_BYTES;
	return post(qp, first, bad);
}

static int poll_and_pause(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	static struct timespec pause = {0, FIRST_PAUSE};
	int found = poll(cq, most, wc);

	if (found) {
		pause.tv_nsec = FIRST_PAUSE;
	} else {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST_PAUSE)
			pause.tv_nsec *= 2;
	}
	return found;
}

int rand(void)
{
	return 4;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) = dlsym(RTLD_NEXT, "ibv_modify_qp");

	if (qp->context->ops.post_send != post_less) {
		post = qp->context->ops.post_send;
		qp->context->ops.post_send = post_less;
		poll = qp->context->ops.poll_cq;
		qp->context->ops.poll_cq = poll_and_pause;
	}
	if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > RETRIES)
		attr->retry_cnt = RETRIES;
	if (mask & IBV_QP_TIMEOUT && attr->timeout < TIMEOUT)
		attr->timeout = TIMEOUT;
	return modify(qp, attr, mask);
}
