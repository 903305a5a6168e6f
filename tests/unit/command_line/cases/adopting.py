"""Clusters that are there, and the stack files that describe them."""

from typing import Any, Final

from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.operators.offered import Seen
from aks_infiniband.stack.load import load
from aks_infiniband_cli.adopt.describing import AksPlace, Description, PoolThere, describe
from aks_infiniband_cli.adopt.found import Found, pools_in

from tests.cases import Case, replaced
from tests.some_pools import H100, pool
from tests.unit.components.pools_in_azure import in_azure, infiniband, ordinary
from tests.unit.components.stack_files import KUBECONFIG

SUBSCRIPTION: Final = "00000000-0000-0000-0000-0000000000aa"
PLACE: Final = AksPlace(subscription=SUBSCRIPTION, resource_group="g", name="guide")
_ID: Final = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/g/providers/x/managedClusters/guide"
BY_HAND: Final = {"upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"}, "id": f"{_ID}/agentPools/ndh100"}
"""Properties of a pool that a person has made."""
_NIC: Final = "feature.node.kubernetes.io/pci-15b3.present"
_TOOLKIT: Final = {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]}
_OFFERS: Final = {"rdma-shared": {"rdma/shared_ib": "8"}, "sriov": {"rdma/ib": "8"}, "driver-only": {}}
_PLACES: Final = {KUBECONFIG: "{kubeconfig}", _ID: "{cluster}", SUBSCRIPTION: "{subscription}"}
"""Values that say nothing about a case, and what stands for each."""


def node(number: int, size: str = H100, agent_pool: str | None = "ndh100", **more: Any) -> dict[str, Any]:
    """A node of AKS, or of a cluster without its labels. more: taints; offers: resources."""
    of_aks = {"kubernetes.azure.com/agentpool": agent_pool} if agent_pool else {}
    labels = {**of_aks, "node.kubernetes.io/instance-type": size, _NIC: "true"}
    provider = f"azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/mc_g/providers/x/{number}"
    return {
        "metadata": {"name": f"n{number}", "labels": labels},
        "spec": {"providerID": provider, "taints": more.get("taints", [])},
        "status": {
            "allocatable": more.get("offers", {}),
            "nodeInfo": {"containerRuntimeVersion": "containerd://1.7.30"},
        },
    }


def cluster(case: Case) -> Found:
    """The cluster of a case: two nodes, without an operator."""
    policies, offers = [], {}
    if "nic_policy" in case:
        of_pool = pool(**case["nic_policy"])
        spec, offers = nic_policy_specs([of_pool]).cluster, _OFFERS[of_pool.mode]
        policies = [{"kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy"}, "spec": spec}]
    nodes = [node(number, **{"offers": offers, **each}) for number, each in enumerate(case.get("nodes", [{}, {}]))]
    gpu_policies = []
    if "gpu_policy" in case:
        spec = {"toolkit": _TOOLKIT, **case["gpu_policy"]}
        gpu_policies = [{"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": spec}]
    return Found(nodes=nodes, seen=Seen(policies=policies, **case.get("seen", {})), gpu_policies=gpu_policies)


def description(case: Case) -> Description:
    """The description of a cluster. `taken_over` has what the pool ndh100 shows in Azure in addition to what a stack
    would make, its `made` the arguments of that; `ordinary` the same of a pool without InfiniBand.
    """
    found = cluster(case)
    there, left = pools_in(found.nodes)
    azure = None
    if "taken_over" in case:
        shown = {**case["taken_over"]}
        azure = in_azure(infiniband(**shown.pop("made", {})), **{**BY_HAND, **shown})
    wanted = [PoolThere(nodes=each, azure=azure if each.name == "ndh100" else None) for each in there]
    if "ordinary" in case:
        shown = {**in_azure(ordinary()), "id": f"{_ID}/agentPools/cpu", **case["ordinary"]}
        wanted.append(PoolThere(nodes=None, azure=shown))
    made = describe(found, wanted, kubeconfig={"kubeconfig": str(KUBECONFIG)}, aks=PLACE, load=load)
    made.left[:0] = left
    return made


def outcome_of_adoption(case: Case) -> dict[str, Any]:
    """The stack file, how the program reads its pools, and what is left out or taken over."""
    made = description(case)
    pools = made.stack.pools if made.stack else ()
    outcome = {
        "stack file": {key.removeprefix("aks-infiniband:"): value for key, value in made.configuration.items()},
        "read as": [f"{each.size.name}, {each.mode}, {each.nic_driver}" for each in pools],
        "taken over": [{"id": each.id, "changes": each.changes, "stays": each.stays} for each in made.taken],
        "left": {each.what: each.why for each in made.left},
    }
    outcome = {key: value for key, value in outcome.items() if value}
    for known, name in _PLACES.items():
        outcome = replaced(outcome, str(known), name)
    return outcome
