"""Nodes that no stack validates, and the way in which their pods get InfiniBand."""

from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.operators.offered import Seen, UndecidedError, decided, found_pool, held, size_of, taints_of, ways
from aks_infiniband.workload.claims import claim_template_spec
from aks_infiniband_cli.validate.unmanaged.pools import Unmanaged

from tests.cases import Case

_H100: Final = "Standard_ND96isr_H100_v5"


def node(
    name: str = "a", *, size: str | None = _H100, taints: Any = (), offers: Any = None, **labels: str
) -> dict[str, Any]:
    """A node of the pool nd. offers: its resources."""
    usual = {"kubernetes.azure.com/agentpool": "nd", "team": "x", "kubernetes.io/hostname": name, **labels}
    sized = {"node.kubernetes.io/instance-type": size} if size else {}
    return {
        "metadata": {"name": name, "labels": {**usual, **sized}, "uid": name},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": dict(offers or {}), "conditions": [{"type": "Ready", "status": "True"}]},
    }


def policy(spec: Case, name: str = "nic-cluster-policy") -> dict[str, Any]:
    """A policy of the Network Operator."""
    return {"kind": "NicClusterPolicy", "metadata": {"name": name}, "spec": spec}


def outcome_of_nodes(case: Case) -> dict[str, Any] | str:
    """The way of the pods on `nodes` to InfiniBand, or why it is left open. `seen` has what the cluster shows, with its
    `policies` by name; `asked` has the choice of a person; `nvlink`: something grants channels of it.
    """
    nodes = [node(**each) for each in case.get("nodes", [{}])]
    seen = {**case.get("seen", {})}
    seen["policies"] = [policy(spec, name) for name, spec in seen.get("policies", {}).items()]
    try:
        size = size_of(nodes)
        way = decided(ways(nodes, size, Seen(**seen)), **case.get("asked", {}))
    except (UndecidedError, ValueError) as error:
        return str(error).replace(", ".join(sorted(SIZES)), "{sizes}")
    pool = found_pool("nd", nodes, way, selector={}, nvlink=case.get("nvlink", False))
    more = {
        "claims": [each["exactly"] for each in claim_template_spec(pool)["spec"]["devices"]["requests"]]
        if pool.mode == "dra"
        else [],
        "tolerates": taints_of(nodes),
        "held": {each["metadata"]["name"]: held(each) for each in nodes if held(each)},
        "of several nodes": pool.changed(node_count=2).rdma_resource if "asked" in case else "",
        "claims NVLink": pool.has_compute_domain,
    }
    return {
        "told": Unmanaged(pool=pool, way=way).told(),
        "read as": f"{size.name}, {pool.mode}, {pool.nic_driver}",
        "requests": pool.promised_resources,
        **{key: value for key, value in more.items() if value},
    }
