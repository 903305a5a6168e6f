"""Properties that hold for any text that people write: every reader of hand-written files takes it, or says why in few
words.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband import SettingsError, load
from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import read_kubeconfig
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.handwritten import HandwrittenError, parse, plain_data, shortened
from aks_infiniband.workload import topology
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rehearsal.azure.subscription import SubscriptionFileError
from rehearsal.azure.subscription import load as load_subscription
from rehearsal.faults.checking import FaultsError
from rehearsal.faults.file import read_file
from rehearsal.faults.kinds import KEYS as FAULT_KEYS
from rehearsal.run.sizes import describe_sizes
from rehearsal.stack import existing_nodes, stack_file
from rehearsal.stack.limits import limits_of
from tests.unit.settings.families import Key, home, keys
from tests.unit.settings.test_kubeconfigs import GOOD, holding, places

KEYS = list(keys())
# The same cases at every run, so that no change fails for a case that it did not bring.
often = settings(
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

WORDS = st.sampled_from(
    [
        *(
            "",
            "off",
            "1.35",
            "~",
            "Standard_D8s_v5",
            "10.0.0.0/8",
            "0.0.0.0/0",
            "a=b:NoSchedule",
            "1",
            "../x",
            "{}",
            "[]",
        ),
        *(
            "null",
            "nan",
            "1e999",
            "0o17",
            "1_000",
            "2026-11-22",
            "<<",
            "*a",
            "!!x",
            "\ufeff",
            "a" * 300,
            "\x85",
            "1:30",
        ),
    ]
)
TEXT = WORDS | st.text(max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
FINITE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
YAML = st.binary(max_size=200) | st.text(max_size=200) | st.text("[]{}:,-&*!|>'\"#%@`? \n\tab10", max_size=60)


def few_words(read: Callable[[], Any], *errors: type[Exception]) -> Any:
    """The content; None if one of the errors says why not."""
    try:
        return read()
    except errors as error:
        told = str(error)
    assert told
    assert len(told.encode(errors="replace")) < 2048
    return None


@often
@given(YAML)
def test_any_text_is_yaml_or_told(text: Any) -> None:
    found = few_words(lambda: parse(text), HandwrittenError)
    json.dumps(found, allow_nan=False)


@often
@given(FINITE)
def test_what_a_rehearsal_writes_for_the_engine_means_what_was_read(data: Any) -> None:
    assert parse(stack_file.written(data)) == data


@often
@given(DATA)
def test_a_value_is_shown_in_few_words(data: Any) -> None:
    assert len(shortened(data)) <= 300
    assert shortened(data).isprintable()


@often
@given(st.text(max_size=50) | DATA.map(json.dumps))
def test_any_text_is_json_or_itself_or_told(text: str) -> None:
    few_words(lambda: plain_data(text), HandwrittenError)


@often
@given(st.sampled_from(KEYS), DATA)
def test_any_value_of_any_key_is_taken_or_told(key: Key, value: Any) -> None:
    few_words(lambda: load(key.holding(value)), SettingsError)


@often
@given(st.booleans(), st.dictionaries(TEXT.map("aks-infiniband:{}".format) | TEXT, DATA, max_size=4))
def test_any_further_keys_are_passed_over_or_told(in_existing: bool, more: dict[str, Any]) -> None:
    few_words(lambda: load({**home(in_existing), **more}), SettingsError)


@often
@given(st.dictionaries(st.sampled_from(KEYS).map(lambda key: key.section), DATA, max_size=6))
@example({"aks-infiniband:existingCluster": [], "aks-infiniband:pools": [None]})
def test_any_configuration_is_taken_or_told(configuration: dict[str, Any]) -> None:
    few_words(lambda: load(configuration), SettingsError)


@often
@given(key=st.sampled_from(KEYS), value=DATA, as_text=st.booleans())
def test_any_stack_file_is_rehearsed_or_left_to_the_program(
    key: Key, value: Any, as_text: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = key.holding(value)
    if as_text:
        config = {
            name: section if isinstance(section, str) else json.dumps(section) for name, section in config.items()
        }
    charts = {"networkOperator": Path("/charts/network"), "gpuOperator": Path("/charts/gpu")}
    stack_file.secrets({"config": config})
    limits = limits_of(config, sizes=SIZES, speed=60)
    made = stack_file.rehearsed(
        {"config": config}, charts=charts, limits=limits, salt="s", kubeconfig=Path("/kubeconfig"), context="c"
    )
    assert made["config"].keys() >= config.keys()
    describe_sizes(tmp_path_factory.getbasetemp(), stack_file.section(config, "sizes") or {})
    nodes = list(existing_nodes.nodes(config, SIZES, kubelet_version="v1.36.3"))
    assert len({node["metadata"]["name"] for node in nodes}) == len(nodes)


@often
@given(path=st.sampled_from(list(places(GOOD))), value=DATA)
def test_any_kubeconfig_is_read_or_told(path: Any, value: Any, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(stack_file.written(holding(path, value)), encoding="utf-8", errors="replace")
    few_words(lambda: read_kubeconfig(str(file)), KubeconfigError)


@often
@given(data=st.lists(st.dictionaries(st.sampled_from(list(FAULT_KEYS)), DATA), max_size=4) | DATA)
def test_any_faults_file_is_read_or_told(data: Any, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(stack_file.written(data), encoding="utf-8", errors="replace")
    few_words(lambda: read_file(file), FaultsError)


@often
@given(data=DATA | st.dictionaries(st.sampled_from(["regions", "series", "sizes", "faults", "client"]), DATA))
def test_any_subscription_is_read_or_told(data: Any, tmp_path: Path) -> None:
    file = tmp_path / "subscription.yaml"
    file.write_text(stack_file.written(data), encoding="utf-8", errors="replace")
    few_words(lambda: load_subscription(file), SubscriptionFileError)


@often
@given(
    content=st.binary(max_size=100) | st.text(max_size=60).map('<system version="1">{}</system>'.format).map(str.encode)
)
def test_any_topology_file_is_read_or_told(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "topology.xml"
    file.write_bytes(content)
    few_words(lambda: topology.read(file), ValueError)


@often
@given(TEXT)
def test_any_path_is_read_or_told(path: str) -> None:
    assume(path not in ("", "."))
    few_words(lambda: read_kubeconfig(path), KubeconfigError)
