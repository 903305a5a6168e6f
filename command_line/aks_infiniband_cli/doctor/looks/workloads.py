"""The state of pods: those of the operators, and those that request InfiniBand or GPUs."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.diagnosis.asks import asks_of, is_rdma, requests_of
from aks_infiniband.diagnosis.ownership import trusted_namespaces
from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import Finding, Object, labelled, name_of
from aks_infiniband.resources.metadata import PART_OF
from aks_infiniband.validation.reports import report_in
from aks_infiniband.workload.environment_away import taken_away

from aks_infiniband_cli.doctor.looks.device_plugins import offered_rdma
from aks_infiniband_cli.doctor.looks.operands import is_watched, operator_namespaces, size_of
from aks_infiniband_cli.doctor.snapshot import Snapshot

_REPLICAS: Final = ("ReplicaSet", "StatefulSet", "DaemonSet", "Node")
_SET: Final = "leaderworkerset.sigs.k8s.io/name"
_GROUP: Final = "leaderworkerset.sigs.k8s.io/group-index"
"""Labels of the pods of a LeaderWorkerSet. A group is one replica over several nodes, owned by StatefulSets."""


def states(snapshot: Snapshot) -> Iterator[Finding]:
    """Pods that are Pending, cannot start or fail: the operators', ours, and those that request RDMA or GPUs."""
    namespaces = operator_namespaces(snapshot) | trusted_namespaces(snapshot.view)
    chosen = [pod for pod in snapshot.view.pods if is_watched(pod, snapshot, namespaces) or asks_of(pod).hardware]
    yield from pod_findings(chosen, snapshot.view, ours=snapshot.validations_in)


def locked_memory(snapshot: Snapshot) -> Iterator[Finding]:
    """Pods that request RDMA and may not lock memory, if nothing has lifted the nodes' limit."""
    if any("node-preparation" in item["metadata"]["name"] for item in snapshot.view.daemon_sets):
        return
    offered = offered_rdma(snapshot)
    for pod in _running(snapshot):
        for container in pod["spec"].get("containers") or []:
            if _asks_rdma(pod, container, offered) and not _may_lock(pod, container):
                what = f"container {container['name']} of pod {name_of(pod)} requests RDMA and may not lock memory"
                yield Finding(symptom="no-ipc-lock", about=f"pod {name_of(pod)}", what=what)


def _running(snapshot: Snapshot) -> list[Object]:
    return [pod for pod in snapshot.view.pods if (pod.get("status") or {}).get("phase") in ("Running", "Pending")]


def _asks_rdma(pod: Object, container: Any, offered: Collection[str]) -> bool:
    claimed = [str(claim.get("name")) for claim in (container.get("resources") or {}).get("claims") or []]
    named = any(is_rdma(name) or name in offered for name in requests_of(container))
    return named or any(map(asks_of(pod).claims_rdma, claimed))


def _may_lock(pod: Object, container: Any) -> bool:
    """True if the container is root's and has IPC_LOCK, or is privileged; the capability is of no use to others."""
    context = container.get("securityContext") or {}
    added = (context.get("capabilities") or {}).get("add") or []
    user = context.get("runAsUser", (pod["spec"].get("securityContext") or {}).get("runAsUser", 0))
    return bool(context.get("privileged")) or (not user and {"IPC_LOCK", "ALL"} & set(added) != set())


def transport(snapshot: Snapshot) -> Iterator[Finding]:
    """Pods that take a whole machine's GPUs without InfiniBand, or whose environment turns it off."""
    sizes = {name_of(node): size_of(node) for node in snapshot.view.nodes}
    offered = offered_rdma(snapshot)
    for pod in _running(snapshot):
        asked, size = asks_of(pod), sizes.get(pod["spec"].get("nodeName"))
        rdma = asked.rdma(offered)
        gpus = size.accelerator.count if size and size.accelerator else 0
        whole = gpus and asked.gpus >= gpus
        if whole and not asked.may_have_rdma(offered) and _nodes_of_job(pod, snapshot) > 1:
            what = f"pod {name_of(pod)}, one of a job over several nodes, takes all {gpus} GPUs and no InfiniBand"
            yield Finding(symptom="gpus-without-rdma", about=f"pod {name_of(pod)}", what=what)
        if rdma:
            yield from _switched_off(pod)


def _switched_off(pod: Object) -> Iterator[Finding]:
    """Parts that the environment of a pod's containers takes away, and names of HCAs in it."""
    about, gpus = f"pod {name_of(pod)}", asks_of(pod).gpus > 0
    for container in pod["spec"].get("containers") or []:
        environment = {each["name"]: str(each.get("value") or "") for each in container.get("env") or []}
        away = [*taken_away(environment, gpus=gpus)] if not _attached(pod) else []
        if away:
            told, fixes = "; ".join(f"{given} {says}" for given, says, _ in away), "; ".join(fix for *_, fix in away)
            what = f"{about} asks for InfiniBand, and {told}"
            yield Finding(symptom="nccl-ib-disabled", about=about, what=what, cause=told, fix=f"{away[0][0]}: {fixes}")
        value = environment.get("NCCL_IB_HCA", "")
        if re.search(r"mlx5_(an|ib)?\d|\^mlx5_an", value) and not any("NCCL_IB_HCA" in given for given, *_ in away):
            yield Finding(symptom="nccl-hca-by-name", about=about, what=f"{about} sets NCCL_IB_HCA={value}")


def _nodes_of_job(pod: Object, snapshot: Snapshot) -> int:
    """On how many nodes the pod's job runs; 0 for a pod that belongs to no job. Replicas of a service do not need each
    other.
    """
    job = _job_of(pod)
    mates = [mate for mate in snapshot.view.pods if _job_of(mate) == job]
    return len({mate["spec"].get("nodeName") for mate in mates}) if job else 0


def _job_of(pod: Object) -> Sequence[str]:
    """The job of a pod: a group of a LeaderWorkerSet, or the first owner."""
    metadata = pod["metadata"]
    labels, owner = metadata.get("labels") or {}, (metadata.get("ownerReferences") or [{}])[0]
    if group := labels.get(_GROUP):
        return str(metadata.get("namespace")), str(labels.get(_SET)), str(group)
    return (str(owner.get("uid")),) if owner and owner.get("kind") not in _REPLICAS else ()


def _attached(pod: Object) -> bool:
    """True if the pod is on an IPoIB network. NCCL over net1 uses no verbs, and that is intended."""
    return "k8s.v1.cni.cncf.io/networks" in (pod["metadata"].get("annotations") or {})


def validation(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools whose last validation failed."""
    for config_map in labelled(snapshot.view.config_maps, PART_OF):
        own = config_map["metadata"].get("namespace") == snapshot.validations_in
        report = report_in(config_map) if own else None
        if report is not None and report.get("verdict") == "fail":
            failed = [check for check in report.get("checks") or [] if check.get("verdict") == "fail"]
            what = f"pool {report.get('pool')}: the validation failed: {'; '.join(map(_told, failed[:3]))}"
            cause = next((str(check["cause"]) for check in failed if check.get("cause")), None)
            yield Finding(symptom="validation-failed", about=f"ConfigMap {name_of(config_map)}", what=what, cause=cause)


def _told(check: Mapping[str, Any]) -> str:
    """A failed check in a few words."""
    where = " ".join(str(check[key]) for key in ("node", "device") if check.get(key))
    return f"{check['check']} {where or 'of the pool'}: {check.get('measured')} instead of {check.get('expected')}"
