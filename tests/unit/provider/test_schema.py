"""What `pulumi package add` reads: the schema from which a language's package is made."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import pytest
from aks_infiniband.access import kubeconfig
from aks_infiniband.azure import arguments as azure
from aks_infiniband.azure import machines
from aks_infiniband.facts import kubernetes, releases
from aks_infiniband.facts.catalog import machine
from aks_infiniband.observability import documents
from aks_infiniband.provider import enumerations
from aks_infiniband.provider.host import Provider
from aks_infiniband.validation import ValidationOptions
from aks_infiniband.workload import scheduling

SNAPSHOT = Path(__file__).with_name("schema.json")
"""Written anew with `python -m tests.unit.provider.snapshot`."""


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
    """A change here is a change for everybody whose program is not in Python."""
    assert {**schema, "version": ""} == json.loads(SNAPSHOT.read_text())


def test_no_property_is_a_union(schema: dict[str, Any]) -> None:
    assert [name for name, property_ in properties(schema) if "oneOf" in property_] == []


def test_every_property_says_what_it_is(schema: dict[str, Any]) -> None:
    assert [name for name, property_ in properties(schema) if not property_.get("description")] == []


LITERALS: dict[type[StrEnum], Any] = {
    enumerations.Mode: machine.Mode,
    enumerations.NicDriver: machine.NicDriver,
    enumerations.GpuDriver: machine.GpuDriver,
    enumerations.GpuDevicePlugin: machine.GpuDevicePlugin,
    enumerations.GpuDirect: machine.GpuDirect,
    enumerations.OperatorRelease: releases.ReleaseName,
    enumerations.SupportPlan: kubernetes.SupportPlan,
    enumerations.OutboundType: azure.OutboundType,
    enumerations.Login: kubeconfig.Login,
    enumerations.OsDiskType: machines.OsDiskType,
    enumerations.OsSku: machine.OsSku,
    enumerations.Priority: machines.Priority,
    enumerations.ValidationMode: ValidationOptions.model_fields["mode"].annotation,
    enumerations.Unread: ValidationOptions.model_fields["error_counters"].annotation,
    enumerations.Sweep: ValidationOptions.model_fields["sweep"].annotation,
    enumerations.Prometheus: documents.Prometheus,
    enumerations.Scheduler: scheduling.Scheduler,
}


def test_every_enumeration_has_the_values_that_the_library_takes(schema: dict[str, Any]) -> None:
    served = {token.rpartition(":")[2] for token, about in schema["types"].items() if "enum" in about}
    assert served == {enumeration.__name__ for enumeration in LITERALS}
    for enumeration, literal in LITERALS.items():
        assert {member.value for member in enumeration} == set(get_args(literal)), enumeration


def test_what_comes_from_a_cluster_may_come_from_another_resource(schema: dict[str, Any]) -> None:
    pool = schema["resources"]["aks-infiniband:index:InfinibandNodePool"]["inputProperties"]
    for name in ("resourceGroupName", "clusterName", "subnetId", "kubernetesVersion"):
        assert "plain" not in pool[name], name
    for token, about in schema["resources"].items():
        assert "plain" not in about["inputProperties"].get("kubeconfig", {}), token
