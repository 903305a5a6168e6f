"""One mistake of a stack file hides no other, and whatever a file holds gets an answer."""

from typing import Any

from aks_infiniband import SettingsError, load

from tests.unit.components.stack_files import cluster, pool

EVERYTHING: Any = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": cluster(
        name="one",
        systemPool={"vmSize": "Standard_D8s_v5", "count": 2, "zones": ["1"]},
        network={"addressSpace": "10.224.0.0/12", "subnet": "10.224.0.0/16", "outboundType": "loadBalancer"},
        apiServer={"private": False, "authorizedIpRanges": ["52.1.2.0/24"]},
        access={"entraId": True, "adminGroupObjectIds": [], "localAccounts": False, "login": "spn"},
    ),
    "aks-infiniband:pools": [
        pool(
            mode="ipoib",
            nicDriver="inbox",
            gpuDriver="aks",
            ipoibDevices=["ib0"],
            autoscale={"minCount": 2, "maxCount": 4},
            labels={"a": "b"},
            taints=["a=b:NoSchedule"],
            zones=["1"],
            osSku="Ubuntu",
        ),
        pool(name="own", vmSize="Standard_ND1r", mode="sriov"),
        {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 1, "infiniband": False, "priority": "Spot"},
    ],
    "aks-infiniband:sizes": {
        "Standard_ND1r": {
            "vcpus": 1,
            "memoryGib": 1,
            "series": "X",
            "infiniband": {"hcaCount": 1, "generation": "NDR", "adapter": "ConnectX-7", "rateGbps": 200},
        }
    },
    "aks-infiniband:networkOperator": {
        "chart": {"version": "1"},
        "ipoib": {"range": "192.168.0.0/20", "gateway": "192.168.0.1", "rails": 1, "addressesPerNode": 8},
        "upgrade": {"automatic": False},
    },
    "aks-infiniband:gpuOperator": {"values": {"a": 1}},
    "aks-infiniband:registry": {"images": "mirror.example/x", "charts": "oci://mirror.example/charts"},
    "aks-infiniband:workload": {"namespaces": ["a", "b"]},
    "aks-infiniband:readiness": {"pollSeconds": 1, "stableSeconds": 1, "timeoutSeconds": 100},
    "aks-infiniband:validation": {"mode": "warn", "thresholds": {"rdma-write-bandwidth": {"warn": 380, "fail": 300}}},
}


def with_each_value_replaced(node: Any, by: Any) -> Any:
    """Copies of a document, each with one of its values replaced."""
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        for replacement in (by, *with_each_value_replaced(child, by)):
            copied = node.copy()
            copied[key] = replacement
            yield copied


def test_whatever_stands_in_a_stack_file_the_answer_is_settings_or_mistakes() -> None:
    for junk in [None, "", "x", 0, -1, 2.5, True, [], ["x"], [None], {}, {"x": 1}]:
        refused: list[str] = []
        for configuration in with_each_value_replaced(EVERYTHING, junk):
            try:
                load(configuration)
            except SettingsError as error:
                refused += [mistake.key for mistake in error.mistakes]
        assert refused
        assert all(key.startswith(("aks-infiniband:", "azure-native:")) for key in refused)
