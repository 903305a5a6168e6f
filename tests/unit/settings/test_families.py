"""Every key with every kind of value that cannot be right: no traceback, and an answer that people can read."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
from aks_infiniband import SettingsError, load

from tests.unit.settings.families import FAMILIES, SECRET, Key, home, keys, taken

KEYS = list(keys())
MOST_BYTES = 2048
MOST_SECONDS = 2.0
"""Seconds of processor time, so that no test fails because the machine is busy."""


def answer(configuration: Any) -> str | None:
    """The error for a configuration; None if it is taken."""
    begun, told = time.thread_time(), None
    try:
        load(configuration)
    except SettingsError as error:
        told = str(error)
    assert time.thread_time() - begun < MOST_SECONDS
    assert told is None or len(told.encode()) < MOST_BYTES
    return told


TOLD_AT = {
    "existingCluster.aks": "aks-infiniband:pools[1].nodeSelector is missing",
    "existingCluster.context": "aks-infiniband:existingCluster.kubeconfig",
    "readiness.timeoutSeconds": "must be less than timeoutSeconds",
    "validation.thresholds.rdma-write-bandwidth.fail": "must give warn or fail",
}
"""Keys whose mistakes are reported at another key, which contradicts them."""


def names(key: Key, told: str) -> bool:
    """True if an error is about a key. A key that is not looked into any further is reported with its section."""
    section = any(f"{key.section} {reason}" in told for reason in ("is nested", "holds a secret"))
    return section or key.written in told or TOLD_AT.get(key.name, key.written) in told


def test_the_homes_of_the_keys_are_right() -> None:
    assert load(home(False))
    assert load(home(True))


def test_there_are_at_least_400_cases() -> None:
    assert len(KEYS) * len(FAMILIES) >= 400


def test_a_value_that_cannot_be_right_is_refused_by_its_key() -> None:
    for family in FAMILIES:
        for key in KEYS:
            for value in FAMILIES[family]:
                told = answer(key.holding(value))
                if told is not None:
                    assert names(key, told)
                else:
                    # The text null is none for a whole section: the engine hands sections on as JSON.
                    none = value is None or (value == "null" and len(key.path) == 1)
                    assert taken(key, value) or (none and key.optional), value


@pytest.fixture(autouse=True)
def configuration() -> Iterator[None]:
    yield
    pulumi.runtime.set_all_config({}, [])


def test_a_secret_is_refused_wherever_it_stands_and_never_told() -> None:
    """As the engine hands it to the program: opened, and the section that holds it marked."""
    for key in KEYS[1:]:
        stack = key.holding(SECRET)
        section = next(name for name in stack if SECRET in json.dumps(stack[name]))
        text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in stack.items()}
        pulumi.runtime.set_all_config(text, [section])
        with pytest.raises(SettingsError) as refused:
            load()
        assert SECRET not in str(refused.value)
        assert section in str(refused.value)


@pytest.mark.parametrize("in_existing", [False, True])
def test_sections_as_json_text_are_those_in_yaml(in_existing: bool) -> None:
    stack = home(in_existing)
    as_text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in stack.items()}
    assert load(as_text).pools == load(stack).pools
