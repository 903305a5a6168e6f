"""The Network Operator's reconcile: second networks of pods, their addresses and their attachments."""

import json
from typing import Any

from rehearsal.operators.network.reconcile import reconcile
from tests.simulator.unit.operators.network_policies import IMAGE, SHARED, made


def test_second_network_is_not_held_back_by_the_driver(running: Any) -> None:
    running.policy({"secondaryNetwork": {"cniPlugins": IMAGE, "multus": IMAGE, "ipoib": IMAGE}})
    daemon_sets = made(running)
    assert sorted(daemon_sets) == ["cni-plugins-ds", "kube-ipoib-cni-ds", "kube-multus-ds"]
    for document in daemon_sets.values():
        assert "nodeSelector" not in document["spec"]["template"]["spec"]
    multus = daemon_sets["kube-multus-ds"]["spec"]["template"]["spec"]
    assert [c["name"] for c in multus["initContainers"]] == ["install-multus-binary"]


def test_address_pools_can_be_defined_only_once_the_policy_asks_for_nv_ipam(running: Any) -> None:
    policy = running.policy({"rdmaSharedDevicePlugin": SHARED})
    assert made(running, "CustomResourceDefinition") == {}
    policy["spec"]["nvIpam"] = IMAGE
    definitions = made(running, "CustomResourceDefinition")
    assert sorted(definitions) == ["cidrpools.nv-ipam.nvidia.com", "ippools.nv-ipam.nvidia.com"]
    assert all("ownerReferences" not in d["metadata"] for d in definitions.values())


def test_ipoib_network_becomes_an_attachment_with_the_addresses_as_given(running: Any, settle: Any) -> None:
    ipam = {"type": "nv-ipam", "poolName": "pool"}
    network = running.add(
        {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "IPoIBNetwork",
            "metadata": {"name": "ib", "annotations": {"pulumi.com/waitFor": "jsonpath={.status.state}=ready"}},
            "spec": {"networkNamespace": "team", "master": "ibP257p0s0", "ipam": json.dumps(ipam)},
        }
    )
    settle(running, reconcile)
    attachment = running.objects["NetworkAttachmentDefinition"]["ib"]
    assert attachment["metadata"]["namespace"] == "team"
    config = json.loads(attachment["spec"]["config"])
    assert config == {"cniVersion": "0.3.1", "name": "ib", "type": "ipoib", "master": "ibP257p0s0", "ipam": ipam}
    made = "k8s.cni.cncf.io/v1/namespaces/team/NetworkAttachmentDefinition/ib"
    assert network["status"] == {"state": "ready", "ipoibNetworkAttachmentDef": made}
    left = {"operator.ipoibnetwork.mellanox.com/last-network-namespace": "team"}
    assert network["metadata"]["annotations"] == left, "the operator takes all other annotations away"


def test_ipoib_network_whose_addresses_are_no_json_is_in_error(running: Any, settle: Any) -> None:
    network = running.add(
        {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "IPoIBNetwork",
            "metadata": {"name": "ib"},
            "spec": {"ipam": "{type: nv-ipam}"},
        }
    )
    settle(running, reconcile)
    assert network["status"]["state"] == "error"
    assert "spec.ipam of IPoIBNetwork ib is not JSON" in network["status"]["reason"]
