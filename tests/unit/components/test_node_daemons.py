"""The programs on the machines themselves: node preparation and the loader of nvidia-peermem."""

from typing import Any

import pytest
from aks_infiniband.hosts.node_preparation import (
    NodePreparation,
    NodePreparationArgs,
    node_preparation,
    to_prepare,
)
from aks_infiniband.hosts.peermem import PeermemLoader, PeermemLoaderArgs, peermem, peermem_pools
from aks_infiniband.hosts.toolkit_hardening import (
    ToolkitHardening,
    ToolkitHardeningArgs,
    toolkit_hardening,
    unhardened,
)
from aks_infiniband.resources.registry import Registry

from declared.pulumi_mocks import Deploy
from tests.some_pools import HBV4, pool

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def pod(spec: Any) -> Any:
    return spec["template"]["spec"]


def script(spec: Any) -> str:
    (container,) = pod(spec).get("initContainers") or pod(spec)["containers"]
    return "\n".join([*container["command"], *container.get("args", [])])


@pytest.mark.field_report("B13")
@pytest.mark.parametrize("memlock", [True, False])
def test_preparation_loads_the_modules_whose_devices_the_device_plugin_looks_for(memlock: Any) -> None:
    assert "for module in ib_umad rdma_ucm; do modprobe" in script(node_preparation([pool()], memlock=memlock).spec())


def test_with_the_kernels_own_driver_it_loads_ipoib_too_which_gives_the_hcas_their_interfaces() -> None:
    spec = node_preparation([pool(), pool(HBV4, "hb", nic_driver="inbox")], memlock=False).spec()
    assert "for module in ib_umad rdma_ucm ib_ipoib; do" in script(spec)


@pytest.mark.field_report("C2")
def test_the_memlock_limit_is_lifted_where_asked_for_and_containerd_and_kubelet_are_left_alone_otherwise() -> None:
    assert "LimitMEMLOCK=infinity" in script(node_preparation([pool()], memlock=True).spec())
    other = script(node_preparation([pool()], memlock=False).spec())
    assert not any(word in other for word in ("LimitMEMLOCK", "systemctl", "kubelet", "containerd"))


def test_a_node_is_prepared_when_the_work_is_done_and_from_then_on_nothing_of_the_machine_is_left_to_the_pod() -> None:
    spec = pod(node_preparation([pool()], memlock=True).spec())
    (works,), (idles,) = spec["initContainers"], spec["containers"]
    assert works["command"][2].startswith("ns=/host/proc/1/ns\nuntil nsenter --mount=$ns/mnt ")
    assert works["command"][2].rstrip().endswith("done")
    assert works["securityContext"] == {"privileged": True}
    assert [mount["mountPath"] for mount in works["volumeMounts"]] == ["/host/proc"]
    assert not {"volumeMounts", "args", "env"} & idles.keys()
    security = idles["securityContext"]
    assert (security["runAsNonRoot"], security["capabilities"]) == (True, {"drop": ["ALL"]})
    assert not {"hostPID", "hostNetwork", "hostIPC"} & spec.keys()


def test_all_pools_are_prepared_where_that_is_asked_for_and_else_those_without_ofed() -> None:
    pools = [pool(), pool(HBV4, "hb", nic_driver="inbox")]
    assert [prepared.name for prepared in to_prepare(pools, asked_for=True)] == ["ndh100", "hb"]
    assert [prepared.name for prepared in to_prepare(pools, asked_for=False)] == ["hb"]
    assert to_prepare([pool()], asked_for=False) == []


@pytest.mark.field_report("B3")
def test_peermem_is_kept_loaded_where_aks_owns_the_gpu_driver_beside_ofed() -> None:
    pools = [
        pool(name="aks", gpu_driver="aks"),
        pool(name="inbox", gpu_driver="aks", nic_driver="inbox"),
        pool(name="dmabuf", gpu_driver="aks", gpu_direct="dmabuf"),
        pool(name="operator"),
        pool(HBV4, "hb"),
    ]
    assert [loaded.name for loaded in peermem_pools(pools)] == ["aks"]
    assert "modprobe nvidia-peermem" in script(peermem(pools[:1]).spec())


@pytest.mark.field_report("B3b")
def test_a_peermem_that_does_not_load_is_no_failure_of_the_node() -> None:
    (container,) = pod(peermem([pool(gpu_driver="aks")]).spec())["containers"]
    assert not any(key.endswith("Probe") for key in container)
    assert "set -e" not in container["command"][2]


@pytest.mark.field_report("A11")
def test_the_toolkit_of_akss_node_image_is_told_to_pass_over_the_variable_that_names_gpus() -> None:
    pools = [pool(name="aks", gpu_driver="aks"), pool(name="operator"), pool(HBV4, "hb")]
    assert [told.name for told in unhardened(pools)] == ["aks"]
    spec = toolkit_hardening(pools[:1]).spec()
    assert "--set accept-nvidia-visible-devices-envvar-when-unprivileged=false" in script(spec)
    assert "as-volume-mounts=true" not in script(spec), "a mount would do what the variable did"
    assert "privileged" not in str(pod(spec)["containers"]), (
        "once it is done, nothing of the machine is left to the pod"
    )


@pytest.mark.field_report("B16", "A8")
@pytest.mark.parametrize("program", [lambda pools: node_preparation(pools, memlock=True), peermem, toolkit_hardening])
def test_all_run_on_the_nodes_of_their_pools_alone_and_tolerate_their_taints_by_key(program: Any) -> None:
    spec = pod(program([pool(taints=("sku=gpu:NoSchedule",)), pool(HBV4, "hb")]).spec())
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [term["matchExpressions"][0]["values"] for term in terms] == [["ndh100"], ["hb"]]
    assert [toleration["key"] for toleration in spec["tolerations"]] == ["sku"]
    (container,) = spec["containers"]
    assert container["resources"].keys() == {"requests", "limits"}
    assert spec["automountServiceAccountToken"] is False


@pytest.mark.field_report("C11")
def test_the_image_is_pinned_and_comes_from_the_registry_with_its_secret() -> None:
    (container,) = pod(peermem([pool()]).spec())["containers"]
    assert container["image"] == "mcr.microsoft.com/mirror/docker/library/busybox:1.35"
    mirrored = pod(peermem([pool()]).spec(registry=Registry(images="acr.example", pull_secret="creds")))
    assert mirrored["containers"][0]["image"] == "acr.example/mirror/docker/library/busybox:1.35"
    assert mirrored["imagePullSecrets"] == [{"name": "creds"}]


@pytest.mark.parametrize(
    ("component", "args", "name"),
    [
        (NodePreparation, NodePreparationArgs, "node-preparation"),
        (PeermemLoader, PeermemLoaderArgs, "nvidia-peermem"),
        (ToolkitHardening, ToolkitHardeningArgs, "nvidia-toolkit-hardening"),
    ],
)
def test_each_is_a_daemon_set_in_the_given_namespace_that_is_waited_for_and_explained(
    deploy: Deploy, component: Any, args: Any, name: Any
) -> None:
    def program() -> Any:
        return component("daemon", args=args(pools=[pool()], namespace="apps", timeout_seconds=90)).urn

    daemon_set = deploy(program).one(DAEMON_SET)
    metadata = daemon_set.inputs["metadata"]
    assert (metadata["name"], metadata["namespace"]) == (name, "apps")
    assert metadata["annotations"]["pulumi.com/timeoutSeconds"] == "90"
    labels = daemon_set.inputs["spec"]["template"]["metadata"]["labels"]
    assert labels["app.kubernetes.io/name"] == name
    assert daemon_set.inputs["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert len(daemon_set.request["hooks"]["onError"]) == 1
