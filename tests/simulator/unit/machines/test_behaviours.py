from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.hosts.dranet import dranet_spec

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import lifts_memlock
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.pods.behaviours import (
    Behaviour,
    behaviour_of,
    behaviours,
    clashes,
    is_executed,
    needs_ofed,
)
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.run import latency
from tests.some_pools import pool as a_pool

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")


def pod(
    labels: dict[str, str] | None = None,
    containers: list[dict[str, Any]] | None = None,
    owners: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {"metadata": {"labels": labels, "ownerReferences": owners}, "spec": {"containers": containers or []}}


@pytest.mark.parametrize("behaviour", behaviours().values(), ids=behaviours())
def test_every_latency_of_the_table_is_known(behaviour: Behaviour) -> None:
    steps = [behaviour.latency, *(container.latency for container in behaviour.init_containers.values())]
    if behaviour.effect_latency:
        steps.append(behaviour.effect_latency)
    table = yaml.safe_load(Path(latency.__file__).with_name("latency.yaml").read_text())
    assert set(steps) <= table.keys()


def test_every_condition_is_provided_by_some_row() -> None:
    provided = {row.provides for row in behaviours().values()} | {"ofedForPeermem"}
    waited_for = {row.waits_for for row in behaviours().values()} - {None}
    waited_for |= {
        container.waits_for for row in behaviours().values() for container in row.init_containers.values()
    } - {None}
    assert waited_for <= provided


@pytest.mark.parametrize(
    ("labels", "provides"),
    [
        ({"nvidia.com/ofed-driver": "", "app": "mofed-ubuntu24.04"}, "ofed"),
        ({"app": "rdma-shared-dp", "ds-owner": "NicClusterPolicy"}, "sharedRdmaDevices"),
        ({"app": "rdma-shared-dp-hb", "ds-owner": "nnp-hb"}, "sharedRdmaDevices"),
        ({"app": "nv-ipam", "name": "nv-ipam-controller"}, "addressController"),
        ({"app": "nv-ipam", "name": "nv-ipam-node"}, "addressAgent"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}, "nodeFeatures"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "master"}, "featureMaster"),
    ],
)
def test_pods_are_known_by_their_labels(labels: dict[str, str], provides: str) -> None:
    behaviour = behaviour_of(pod(labels))
    assert behaviour is not None
    assert behaviour.provides == provides


@pytest.mark.parametrize(
    "labels", [None, {}, {"app": "cni-plugins"}, {"app.kubernetes.io/name": "node-feature-discovery", "role": "gc"}]
)
def test_other_pods_do_nothing_to_their_machine(labels: dict[str, str] | None) -> None:
    assert behaviour_of(pod(labels)) is None


@pytest.mark.parametrize(
    "owner",
    [
        {"apiVersion": "batch/v1", "kind": "Job"},
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"},
        {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob"},
    ],
)
def test_pods_of_jobs_are_executed(owner: dict[str, str]) -> None:
    assert is_executed(pod(owners=[owner]))


def test_the_watch_of_the_light_check_is_executed_and_its_exporter_is_not() -> None:
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet"}]
    for component, executed in (("watch", True), ("exporter", False)):
        labels = {"app.kubernetes.io/name": "light-check", "app.kubernetes.io/component": component}
        assert is_executed(pod(labels, owners=owners)) is executed


def test_pods_of_servers_are_executed_where_they_hold_devices() -> None:
    owners = [{"apiVersion": "apps/v1", "kind": "StatefulSet"}]
    holding = {"name": "vllm", "resources": {"limits": {"rdma/shared_ib": "1"}}}
    small = {"name": "web", "resources": {"limits": {"cpu": "1"}}}
    assert is_executed(pod(owners=owners, containers=[holding]))
    assert not is_executed(pod(owners=owners, containers=[small]))
    assert not is_executed(pod(containers=[holding])), "nobody controls it"
    assert not is_executed(pod(owners=[{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}]))


def test_the_gpu_driver_waits_for_ofed_only_with_peermem_on_infiniband() -> None:
    driver, peermem = {"name": "nvidia-driver-ctr"}, {"name": "nvidia-peermem-ctr"}
    host = {"name": "nvidia-peermem-ctr", "env": [{"name": "USE_HOST_MOFED", "value": "true"}]}
    system = hardware_of(size="Standard_NC24ads_A100_v4", machine="node-1", fabric="none")
    assert needs_ofed(pod(containers=[driver, peermem]), H100)
    assert not needs_ofed(pod(containers=[driver]), H100)
    assert not needs_ofed(pod(containers=[driver, host]), H100)
    assert not needs_ofed(pod(containers=[driver, peermem]), system)


def preparation(*containers: dict[str, Any]) -> dict[str, Any]:
    return pod({"app.kubernetes.io/name": "node-preparation"}, containers=list(containers))


def test_node_preparation_loads_the_modules_that_it_names_and_no_other() -> None:
    by_argument = {"name": "modules", "command": ["sh", "-c", "modprobe ib_umad; modprobe --all rdma-ucm ib_ipoib"]}
    behaviour = behaviour_of(preparation(by_argument))
    assert behaviour is not None
    assert behaviour.modules(preparation(by_argument)) == {"ib_umad", "rdma_ucm", "ib_ipoib"}
    by_variable = {"name": "modules", "env": [{"name": "MODULES", "value": "ib_umad"}]}
    assert behaviour.modules(preparation(by_variable)) == {"ib_umad"}
    assert behaviour.modules(preparation({"name": "pause"})) == set()


def test_only_a_pod_that_sets_the_unit_option_lifts_the_limit_of_locked_memory() -> None:
    script = "printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /host/etc/systemd/system/containerd.service.d/10.conf"
    assert lifts_memlock(preparation({"name": "memlock", "args": [script]}))
    assert not lifts_memlock(preparation({"name": "modules", "args": ["modprobe ib_umad"]}))


def test_peermem_is_loaded_by_its_container_or_its_own_daemon_set_and_not_by_the_driver_alone() -> None:
    driver = {"app": "nvidia-driver-daemonset"}
    rdma = pod(driver, containers=[{"name": "nvidia-driver-ctr"}, {"name": "nvidia-peermem-ctr"}])
    plain = pod(driver, containers=[{"name": "nvidia-driver-ctr"}])
    own = pod({"app.kubernetes.io/name": "nvidia-peermem"}, containers=[{"name": "peermem"}])
    loaded = [
        "nvidia_peermem" in behaviours()[name].modules(document)
        for name, document in [("gpuDriver", rdma), ("gpuDriver", plain), ("peermem", own)]
    ]
    assert loaded == [True, False, True]
    assert "nvidia_peermem" not in Effects().modules(Machine(name="n", hardware=H100, host_gpu_driver=True))


@pytest.mark.parametrize(("runtime", "crashes"), [("containerd://1.7.30-1", True), ("containerd://2.3.2-1", False)])
def test_dranet_ends_where_containerd_has_no_nri(runtime: str, crashes: bool) -> None:
    driver, node_info = dranet_spec([a_pool(mode="dra")])["template"], {"containerRuntimeVersion": runtime}
    row, machine = behaviour_of(driver), Machine(name="n", hardware=H100)
    assert row is not None
    met = [each.when for each in row.crashes if clashes(each.when, driver, machine, node_info)]
    assert met == ["noNri"] * crashes
    assert row.provides == "draDevices"


def test_a_machine_with_a_driver_of_its_own_must_not_meet_the_operators() -> None:
    driver = pod({"app": "nvidia-driver-daemonset"}, containers=[{"name": "nvidia-driver-ctr"}])
    assert clashes("hostGpuDriver", driver, Machine(name="n", hardware=H100, host_gpu_driver=True), {})
    assert not clashes("hostGpuDriver", driver, Machine(name="n", hardware=H100), {})


@pytest.mark.parametrize(
    ("tag", "os_image", "crashes"),
    [
        ("580.126.20-ubuntu22.04", "Ubuntu 24.04.3 LTS", True),
        ("580.126.20-ubuntu24.04", "Ubuntu 22.04.5 LTS", True),
        ("580.126.20-ubuntu24.04", "Microsoft Azure Linux 3.0", True),
        ("580.126.20-ubuntu24.04", "Ubuntu 24.04.3 LTS", False),
        ("580.126.20", "Ubuntu 24.04.3 LTS", False),
    ],
)
def test_a_gpu_driver_that_was_built_for_another_system_does_not_load(tag: str, os_image: str, crashes: bool) -> None:
    labels = {"app": "nvidia-driver-daemonset"}
    driver = pod(labels, containers=[{"name": "nvidia-driver-ctr", "image": f"nvcr.io/nvidia/driver:{tag}"}])
    machine = Machine(name="n", hardware=H100)
    rows = behaviours()["gpuDriver"].crashes
    met = [crash for crash in rows if clashes(crash.when, driver, machine, {"osImage": os_image})]
    assert [(crash.when, crash.breaks_node) for crash in met] == [("imageOfAnotherSystem", False)] * crashes


@pytest.mark.parametrize(
    ("runtime", "source", "is_broken"),
    [
        ("containerd://2.1.4", None, True),
        ("containerd://2.1.4", "command", True),
        ("containerd://2.1.4", "file", False),
        ("containerd://2.1.4", "file=/etc/containerd/config.toml", False),
        ("containerd://1.7.27", None, False),
    ],
)
def test_the_toolkit_breaks_containerd_2_unless_it_reads_the_configuration_file(
    runtime: str, source: str | None, is_broken: bool
) -> None:
    env = [] if source is None else [{"name": "RUNTIME_CONFIG_SOURCE", "value": source}]
    toolkit = pod({"app": "nvidia-container-toolkit-daemonset"}, containers=[{"name": "toolkit", "env": env}])
    node_info = {"containerRuntimeVersion": runtime}
    assert clashes("containerd2ConfigDump", toolkit, Machine(name="n", hardware=H100), node_info) is is_broken


def test_a_machine_with_a_driver_of_its_own_has_driver_and_toolkit_from_the_start() -> None:
    effects, host = Effects(), Machine(name="n", hardware=H100, host_gpu_driver=True)
    assert effects.provided(host, "gpuDriver")
    assert effects.provided(host, "containerToolkit")
    assert not effects.provided(host, "gpuDevices")
    assert not effects.provided(Machine(name="n", hardware=H100), "gpuDriver")


def test_modules_are_loaded_for_as_long_as_the_pod_that_loads_them_is_ready() -> None:
    effects, machine = Effects(), Machine(name="n", hardware=H100)
    effects.add("uid", InForce(node="n", effect="ofed", modules=frozenset({"ib_umad"})))
    assert "ib_umad" in effects.modules(machine)
    assert "ib_umad" not in effects.modules(Machine(name="other", hardware=H100))
    effects.add("peermem", InForce(node="n", effect="peermem", modules=frozenset({"nvidia_peermem"})))
    assert "nvidia_peermem" not in effects.modules(machine), "there is no driver that it could be loaded beside"
    assert "nvidia_peermem" in effects.modules(Machine(name="n", hardware=H100, host_gpu_driver=True))
    effects.add("prepared", InForce(node="n", effect="nodePreparation", modules=frozenset({"rdma_ucm"}), stays=True))
    effects.discard("prepared")
    assert "rdma_ucm" in effects.modules(machine), "what was done to the host itself stays"
    effects.forget("n")
    assert "rdma_ucm" not in effects.modules(machine)
    effects.discard("uid")
    assert effects.modules(machine) >= {"mlx5_ib", "ib_uverbs"}
    assert "ib_umad" not in effects.modules(machine)
