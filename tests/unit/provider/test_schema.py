"""The output of `pulumi package add`: the schema from which a language's package is made."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.provider.host import Provider

SNAPSHOT = Path(__file__).with_name("schema.json")
"""Written again with `python -m tests.unit.provider.snapshot`."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Provider().schema or "")
    return found


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("resources", "types"):
        for token, about in schema[kind].items():
            for part in ("inputProperties", "properties"):
                for name, property_ in about.get(part, {}).items():
                    yield f"{token}.{name}", property_


def test_the_schema_is_the_one_that_programs_were_generated_from(schema: dict[str, Any]) -> None:
    """A change here is a change for every user whose program is not in Python."""
    assert {**schema, "version": ""} == json.loads(SNAPSHOT.read_text())


def test_no_property_is_a_union(schema: dict[str, Any]) -> None:
    assert [name for name, property_ in properties(schema) if "oneOf" in property_] == []


def test_every_property_says_what_it_is(schema: dict[str, Any]) -> None:
    assert [name for name, property_ in properties(schema) if not property_.get("description")] == []


def test_what_comes_from_a_cluster_may_come_from_another_resource(schema: dict[str, Any]) -> None:
    pool = schema["resources"]["aks-infiniband:index:InfinibandNodePool"]["inputProperties"]
    for name in ("resourceGroupName", "clusterName", "subnetId", "kubernetesVersion"):
        assert "plain" not in pool[name], name
    for token, about in schema["resources"].items():
        assert "plain" not in about["inputProperties"].get("kubeconfig", {}), token
