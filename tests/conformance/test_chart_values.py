"""Every Helm value that we set is one of the real charts, and a private registry has every image of theirs."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts.releases import OPERATOR_RELEASES
from aks_infiniband.operators.charts import IMAGES, gpu_operator_images, images_of, network_operator_images
from aks_infiniband.operators.dra_driver import dra_driver_values
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.registry import Registry

from tests.conformance.facts import DRA, GPU, GPU_LATER, NETWORK, NETWORK_LATER, chart_values, fields_of, misfits
from tests.conformance.notation import below
from tests.some_pools import GB300, HBV4, pool

ROOT = Path(__file__).parents[2]
MIRROR = Registry(images="acr.example/mirror", pull_secret="creds")
REGISTRIES = pytest.mark.parametrize("registry", [Registry(), MIRROR], ids=["sources", "registry"])
SELECTORS = pytest.mark.parametrize("selector", [{}, {"role": "system"}], ids=["anywhere", "labelled"])


@REGISTRIES
@SELECTORS
@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "ipoib", "dra", "driver-only"])
def test_every_value_of_the_network_operator_is_one_of_the_real_chart(mode: Any, selector: Any, registry: Any) -> None:
    values = network_operator_values(
        [pool(mode=mode, taints=("a=b:NoSchedule",))], system_node_selector=selector, registry=registry
    )
    for release in (NETWORK, NETWORK_LATER):
        assert misfits(values, release) == {}


@REGISTRIES
@SELECTORS
@pytest.mark.parametrize(("owner", "driver"), list(product(("operator", "aks"), ("doca-ofed", "inbox"))))
def test_every_value_of_the_gpu_operator_is_one_of_the_real_chart(
    owner: Any, driver: Any, selector: Any, registry: Any
) -> None:
    values = gpu_operator_values(
        [pool(gpu_driver=owner, nic_driver=driver), pool(HBV4, "hb")],
        options=OperatorOptions(driver_version="580.1", registry=registry),
        system_node_selector=selector,
    )
    passed_on = {f"{part}.imagePullSecrets" for part in pull_secret_takers()}
    for release in (GPU, GPU_LATER):
        assert {path: reason for path, reason in misfits(values, release).items() if path not in passed_on} == {}


@REGISTRIES
@SELECTORS
def test_every_value_of_the_dra_driver_is_one_of_the_real_chart(selector: Any, registry: Any) -> None:
    pools = [pool(GB300, "gb", taints=("a=b:NoSchedule",)), pool()]
    values = dra_driver_values(pools, system_node_selector=selector, registry=registry)
    assert misfits(values, DRA) == {}


@pytest.mark.parametrize(
    ("release", "file"),
    [*product((NETWORK, NETWORK_LATER), ["network-operator.yaml"]), *product((GPU, GPU_LATER), ["gpu-operator.yaml"])],
)
def test_every_value_of_the_files_that_all_stacks_share_is_one_of_the_real_chart(release: Any, file: Any) -> None:
    assert misfits(yaml.safe_load((ROOT / "values" / file).read_text()) or {}, release) == {}


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"nfd": {"enable": True}}, {"nfd.enable": "unknown"}),
        ({"nfd": {"enabled": "true"}}, {"nfd.enabled": "str for bool"}),
        ({"nfd": True}, {"nfd": "bool for dict"}),
        ({"imagePullSecrets": "creds"}, {"imagePullSecrets": "str for list"}),
        (
            {"node-feature-discovery": {"gc": {"replicaCount": True}}},
            {"node-feature-discovery.gc.replicaCount": "bool for int"},
        ),
    ],
)
def test_a_helm_value_that_the_real_chart_lacks_or_of_another_type_would_be_found(wrong: Any, found: Any) -> None:
    assert misfits({**network_operator_values([pool()]), **wrong}, NETWORK) == found


@pytest.mark.field_report("B10b")
def test_the_node_feature_discovery_of_the_real_chart_labels_by_class_and_vendor_as_ours_does() -> None:
    """Our values repeat the chart's, so that a new default of the chart cannot take the GPU Operator's label away."""
    real = chart_values(NETWORK)["node-feature-discovery"]["worker"]["config"]
    assert network_operator_values([pool()])["node-feature-discovery"]["worker"]["config"] == real


@pytest.mark.field_report("B11", "D9b")
def test_both_real_charts_upgrade_their_definitions_themselves_and_we_do_not_stop_them() -> None:
    """Helm does not; a hook of the chart does."""
    assert chart_values(NETWORK)["upgradeCRDs"] is True
    assert chart_values(GPU)["operator"]["upgradeCRD"] is True
    assert "upgradeCRDs" not in network_operator_values([pool()])
    assert "upgradeCRD" not in gpu_operator_values([pool()])["operator"]


def repositories(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every value that names the source of an image: a repository, or a whole reference with a registry's name."""
    if isinstance(values, dict):
        for key, value in values.items():
            here = (*path, key)
            if isinstance(value, str):
                if key.lower().endswith("repository") or _is_reference(value):
                    yield here, value
            else:
                yield from repositories(value, here)
    if isinstance(values, list):
        for item in values:
            yield from repositories(item, path)


def _is_reference(value: str) -> bool:
    host, _, path = value.partition("/")
    return "." in host and ":" in path


SWITCHED_OFF = {"sriov-network-operator": "sriovNetworkOperator", "maintenance-operator-chart": "maintenanceOperator"}
"""Subcharts of the Network Operator's, and what switches them on."""


@pytest.mark.field_report("C11")
def test_every_image_of_the_network_operators_chart_is_in_our_table_with_its_source() -> None:
    defaults = chart_values(NETWORK)
    for switch in SWITCHED_OFF.values():
        assert defaults[switch]["enabled"] is False
        assert switch not in network_operator_values([pool()])
    found = {path: source for path, source in repositories(defaults) if path[0] not in SWITCHED_OFF}
    assert found == dict(repositories(IMAGES["network-operator"]))


@pytest.mark.field_report("C11")
def test_every_image_of_the_gpu_operators_chart_is_in_our_table_with_its_source() -> None:
    found = {path: source for path, source in repositories(chart_values(GPU)) if source}
    assert found == dict(repositories(IMAGES["gpu-operator"]))


@pytest.mark.parametrize(
    ("release", "facts_of"), [("26.4", NETWORK), ("26.4", GPU), ("26.7", NETWORK_LATER), ("26.7", GPU_LATER)]
)
def test_what_our_table_says_of_an_image_is_the_real_charts_default(release: Any, facts_of: str) -> None:
    """Its values next to the repositories: image, version, and the switch that enables it. A release candidate's
    version stands for that of what is released (assumed).
    """

    def differing(ours: Any, real: Any) -> list[tuple[Any, Any]]:
        if isinstance(ours, dict):
            return [pair for key, value in ours.items() for pair in differing(value, real[key])]
        return [] if ours == str(real).replace("-rc.2", "") or ours == real else [(ours, real)]

    chart = f"{facts_of.partition('-operator-')[0]}-operator"
    without_places = {path for path, _ in repositories(IMAGES[chart])} if facts_of == NETWORK_LATER else set()
    ours = _without(images_of(OPERATOR_RELEASES[release], chart), without_places)
    assert differing(ours, chart_values(facts_of)) == []


def _without(values: Any, paths: set[tuple[str, ...]], above: tuple[str, ...] = ()) -> Any:
    """The values without those at some paths: a release candidate's images are in a separate place."""
    if not isinstance(values, dict):
        return values
    kept = {key: value for key, value in values.items() if (*above, key) not in paths}
    return {key: _without(value, paths, (*above, key)) for key, value in kept.items()}


@pytest.mark.parametrize("images", [network_operator_images, gpu_operator_images], ids=["network", "gpu"])
def test_no_image_of_a_chart_is_left_at_its_source(images: Any) -> None:
    ours = dict(repositories(images(MIRROR)))
    assert ours
    assert all(source.startswith("acr.example/mirror/nvidia") for source in ours.values())


def pull_secret_takers() -> set[str]:
    """The parts of the ClusterPolicy with an image that take a pull secret.

    The chart passes the value on for each of them, and has it among its defaults for most.
    """
    spec = below(below(fields_of("ClusterPolicy"))["spec"])
    return {part for part, fields in spec.items() if "imagePullSecrets" in below(fields)}


@pytest.mark.field_report("C11")
def test_every_part_of_the_gpu_operators_chart_that_takes_a_pull_secret_gets_it() -> None:
    defaults = chart_values(GPU)
    takers = pull_secret_takers() | {part for part in defaults if "imagePullSecrets" in (defaults[part] or {})}
    with_image = {part for part, values in IMAGES["gpu-operator"].items() if "repository" in values}
    ours = gpu_operator_images(MIRROR)
    assert takers & with_image == {key for key, value in ours.items() if "imagePullSecrets" in value}
