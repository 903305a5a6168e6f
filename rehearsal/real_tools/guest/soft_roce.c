/* Preloaded into the tools, so that Soft-RoCE on an emulated processor does as an InfiniBand HCA does, and takes no
 * longer:
 * - It takes seven retries, which all tools ask for, as endless, and here it gives up; a packet has 0.27 s, not 0.07 s.
 * - Of each message no more than 64 KiB is sent. The tool knows nothing of that, so no figure here means anything.
 * - perftest fills its buffers with rand(), a byte at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>

enum { MOST_BYTES = 65536, RETRIES = 6, TIMEOUT = 16 };

static int (*post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);

static int post_less(struct ibv_qp *qp, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
	for (struct ibv_send_wr *wr = first; wr; wr = wr->next)
		for (int i = 0; i < wr->num_sge; i++)
			if (wr->sg_list[i].length > MOST_BYTES)
				wr->sg_list[i].length = MOST_BYTES;
	return post(qp, first, bad);
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
	}
	if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > RETRIES)
		attr->retry_cnt = RETRIES;
	if (mask & IBV_QP_TIMEOUT && attr->timeout < TIMEOUT)
		attr->timeout = TIMEOUT;
	return modify(qp, attr, mask);
}
