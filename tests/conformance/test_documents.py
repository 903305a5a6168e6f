"""Every custom resource and Helm value that the components emit is one that the real definitions and charts know."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from aks_infiniband import Pool, versions
from aks_infiniband.catalog import SIZES
from aks_infiniband.gpu_operator import gpu_operator_values
from aks_infiniband.network_operator import network_operator_values, node_feature_rule_spec
from aks_infiniband.nic_policy import nic_cluster_policy_spec
from aks_infiniband.pool import toleration

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
NETWORK, GPU = REFERENCE / "network-operator-26.4.1", REFERENCE / "gpu-operator-26.3.3"

pytestmark = pytest.mark.skipif(not REFERENCE.is_dir(), reason=f"the real definitions are not here: no {REFERENCE}")


def pool(size: str, taints: tuple[str, ...] = ()) -> Pool:
    return Pool(
        name="pool",
        size=SIZES[size],
        node_count=2,
        node_selector={"kubernetes.azure.com/agentpool": "pool"},
        tolerations=tuple(toleration(taint) for taint in taints),
        rdma_resource="rdma/shared_ib",
        rdma_quantity=1,
    )


def definition(file: Path, kind: str) -> dict[str, Any]:
    """JSON schema of a kind's stored version, as strict as the API server with field validation."""
    for document in yaml.safe_load_all(file.read_text()):
        if document and document.get("spec", {}).get("names", {}).get("kind") == kind:
            (version,) = [one for one in document["spec"]["versions"] if one["storage"]]
            return strict(version["schema"]["openAPIV3Schema"])
    raise AssertionError(f"{file.name} defines no {kind}")


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A structural schema as JSON schema: an unknown field is an error, unless the definition keeps unknown ones."""
    result = {key: value for key, value in schema.items() if key != "format"}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if "properties" in schema:
        result["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            result["additionalProperties"] = False
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = strict(schema[keyword])
    return result


def assert_accepted(schema: dict[str, Any], document: dict[str, Any]) -> None:
    plain = json.loads(json.dumps(document))
    errors = [
        f"{error.json_path}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(plain)
    ]
    assert errors == []


SIZES_AND_TAINTS = [
    ("Standard_ND96isr_H100_v5", ()),
    ("Standard_HX176rs", ("sku=ib:NoSchedule",)),
    ("Standard_ND128isr_GB300_v6", ()),
]


@pytest.mark.parametrize(("size", "taints"), SIZES_AND_TAINTS)
def test_the_nic_cluster_policy_is_one_that_the_real_definition_accepts(size: Any, taints: Any) -> None:
    schema = definition(NETWORK / "mellanox.com_nicclusterpolicies.yaml", "NicClusterPolicy")
    assert_accepted(schema["properties"]["spec"], nic_cluster_policy_spec([pool(size, taints)]))


def test_a_field_that_the_real_definition_lacks_would_be_found() -> None:
    schema = definition(NETWORK / "mellanox.com_nicclusterpolicies.yaml", "NicClusterPolicy")
    wrong = {**nic_cluster_policy_spec([pool("Standard_HX176rs")]), "bogus": 1}
    with pytest.raises(AssertionError, match="bogus"):
        assert_accepted(schema["properties"]["spec"], wrong)


def test_the_node_feature_rule_is_one_that_the_real_definition_accepts() -> None:
    schema = definition(NETWORK / "nfd-crds.yaml", "NodeFeatureRule")
    assert_accepted(schema["properties"]["spec"], node_feature_rule_spec([pool("Standard_HX176rs")]))


def unknown(values: dict[str, Any], defaults: dict[str, Any], path: str = "") -> Iterator[str]:
    """The values that a chart's defaults do not have. An affinity is Kubernetes' own, and so is an empty mapping."""
    for key, value in values.items():
        here = f"{path}.{key}"
        if key not in defaults:
            yield here
        elif isinstance(value, dict) and defaults[key] and key != "affinity":
            yield from unknown(value, defaults[key], here)


CHARTS = [
    (NETWORK, "network-operator.yaml", network_operator_values),
    (GPU, "gpu-operator.yaml", gpu_operator_values),
]


@pytest.mark.parametrize(("reference", "file", "derived"), CHARTS)
def test_every_helm_value_that_we_set_is_one_of_the_real_chart(reference: Any, file: Any, derived: Any) -> None:
    defaults = yaml.safe_load((reference / "chart-values.yaml").read_text())
    assert list(unknown(derived([pool("Standard_ND96isr_H100_v5")]), defaults)) == []
    assert list(unknown(yaml.safe_load((ROOT / "values" / file).read_text()), defaults)) == []


def test_a_helm_value_that_the_real_chart_lacks_would_be_found() -> None:
    defaults = yaml.safe_load((NETWORK / "chart-values.yaml").read_text())
    assert list(unknown({"nfd": {"enable": True}}, defaults)) == [".nfd.enable"]


def test_the_node_feature_discovery_of_the_real_chart_labels_by_class_and_vendor_as_ours_does() -> None:
    """Our values repeat the chart's, so that a new default of the chart cannot take the GPU Operator's label away."""
    real = yaml.safe_load((NETWORK / "chart-values.yaml").read_text())["node-feature-discovery"]["worker"]["config"]
    assert network_operator_values([])["node-feature-discovery"]["worker"]["config"] == real


@pytest.mark.parametrize(
    ("image", "component"),
    [
        (versions.DOCA_DRIVER, "Mofed"),
        (versions.RDMA_SHARED_DEVICE_PLUGIN, "RdmaSharedDevicePlugin"),
        (versions.DOCA_TELEMETRY, "docaTelemetryService"),
    ],
)
def test_images_are_those_that_the_pinned_network_operator_was_released_with(image: Any, component: Any) -> None:
    released = yaml.safe_load((NETWORK / "components.yaml").read_text())[component]
    assert image.as_fields() == {key: released[key] for key in ("repository", "image", "version")}
