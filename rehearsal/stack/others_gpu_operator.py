"""A GPU Operator that others have installed in a cluster, with its Node Feature Discovery, for a stack with
`gpuOperator.existing`.

The result of `helm install` with the chart's default values, in another namespace than this project's: definitions, the
operator, the discovery and the ClusterPolicy. The operator is there before the program runs, and stays when the stack
is gone. An object that exists already stays as it is: its owner may have changed it with `kubectl`.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import yaml
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.generic_resource import create_global_resource

from rehearsal.stack.others_definitions import await_served
from rehearsal.stack.stack_file import section

NAMESPACE: Final = "nvidia-gpu-operator"
_CLUSTER_POLICY: Final = create_global_resource("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies")
_DISCOVERY: Final = "node-feature-discovery"
_POLICYS_OWN: Final = (
    *("psa", "cdi", "sandboxWorkloads", "hostPaths", "mig", "daemonsets", "toolkit", "devicePlugin", "dcgm"),
    *("dcgmExporter", "gfd", "migManager", "validator", "nodeStatusExporter", "gds", "gdrcopy", "vgpuManager"),
    *("vgpuDeviceManager", "vfioManager", "sandboxDevicePlugin", "kataSandboxDevicePlugin", "ccManager"),
)
"""Values that bear the names of fields of the policy, as in the chart's templates/clusterpolicy.yaml."""


def register(kubeconfig: Path, config: Mapping[str, Any], charts: Path) -> None:
    """Make the GPU Operator that, by the stack file, is there already. Without such a setting it makes nothing.

    kubeconfig: the cluster administrator's. charts: the folder of the stand-in's charts.
    """
    if (section(config, "gpuOperator") or {}).get("existing") is not True:
        return
    client = Client(config=KubeConfig.from_file(str(kubeconfig)), trust_env=False, field_manager="others-gpu-operator")
    definitions = list(_definitions(charts))
    for document in definitions:
        client.apply(codecs.from_dict(document))
    for document in definitions:
        await_served(client, document["spec"])
    if list(client.list(_CLUSTER_POLICY)):
        return  # an operator is there, by an earlier call or by a person
    values = yaml.safe_load((charts / "gpu-operator" / "values.yaml").read_text(encoding="utf-8"))
    version = yaml.safe_load((charts / "gpu-operator" / "Chart.yaml").read_text(encoding="utf-8"))["version"]
    for document in documents(values, version):
        _create(client, document)


def _definitions(charts: Path) -> Iterator[dict[str, Any]]:
    for chart in ("gpu-operator", _DISCOVERY):
        for file in sorted((charts / chart / "crds").iterdir()):
            yield from filter(None, yaml.safe_load_all(file.read_text(encoding="utf-8")))


def _create(client: Client, document: dict[str, Any]) -> None:
    try:
        client.create(codecs.from_dict(document))
    except ApiError as error:
        if error.status.code != HTTPStatus.CONFLICT:
            raise


def documents(values: Mapping[str, Any], version: str) -> Iterator[dict[str, Any]]:
    """The objects that an installation makes, except definitions. values, version: the chart's."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    operator = values["operator"]
    labels = {"app.kubernetes.io/component": "gpu-operator", "app": "gpu-operator"}
    yield _workload("Deployment", "gpu-operator", labels, f"{operator['repository']}/{operator['image']}:{version}")
    discovery = values[_DISCOVERY]
    image = f"registry.k8s.io/nfd/{_DISCOVERY}:v0.18.3"
    own = {"app.kubernetes.io/name": _DISCOVERY}
    yield _workload("Deployment", f"{_DISCOVERY}-master", {**own, "role": "master"}, image)
    configuration = f"{_DISCOVERY}-worker-conf"
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": configuration, "namespace": NAMESPACE},
        "data": {"nfd-worker.conf": yaml.safe_dump(discovery["worker"]["config"])},
    }
    worker = _workload("DaemonSet", f"{_DISCOVERY}-worker", {**own, "role": "worker"}, image)
    worker["spec"]["template"]["spec"] |= {
        "tolerations": discovery["worker"]["tolerations"],
        "volumes": [{"name": "configuration", "configMap": {"name": configuration}}],
    }
    yield worker
    yield _policy(values, version)


def _workload(kind: str, name: str, labels: Mapping[str, str], image: str) -> dict[str, Any]:
    own = {**labels, "app.kubernetes.io/instance": "theirs"}
    template = {"metadata": {"labels": own}, "spec": {"containers": [{"name": name, "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": own},
        "spec": {"selector": {"matchLabels": own}, "template": template},
    }


def _policy(values: Mapping[str, Any], version: str) -> dict[str, Any]:
    driver = {key: value for key, value in values["driver"].items() if key not in ("nvidiaDriverCRD", "upgradePolicy")}
    upgrade = dict(values["driver"]["upgradePolicy"])
    pods = upgrade.pop("gpuPodDeletion")
    spec = {key: values[key] for key in _POLICYS_OWN}
    spec["operator"] = {key: values["operator"][key] for key in ("runtimeClass", "use_ocp_driver_toolkit")}
    spec["driver"] = {
        **driver,
        "useNvidiaDriverCRD": values["driver"]["nvidiaDriverCRD"]["enabled"],
        "upgradePolicy": {"podDeletion": pods, **upgrade},
    }
    labels = {"app.kubernetes.io/component": "gpu-operator", "app.kubernetes.io/version": version}
    metadata = {"name": "cluster-policy", "labels": labels}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}
