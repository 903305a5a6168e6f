"""Versions of Kubernetes: one past its support is refused, with what to do; long-term support carries it on."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from aks_infiniband import load
from aks_infiniband.facts.kubernetes import RELEASES, minor_of
from aks_infiniband.facts.releases import DEFAULT_RELEASE
from aks_infiniband.stack.settings.consistency import cluster as cluster_rules

from tests.unit.components.stack_files import changed, cluster, loaded, made, mistakes

LTS = "AKSLongTermSupport"


def on(day: date, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_rules, "today", lambda: day)


@pytest.mark.field_report("R1")
def test_long_term_support_carries_a_version_on_for_a_year() -> None:
    assert loaded(cluster=cluster(kubernetesVersion="1.33", supportPlan=LTS)).cluster


def test_a_version_is_taken_on_the_last_day_of_its_support_and_not_after(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = changed(cluster=cluster(kubernetesVersion="1.34"))
    on(date(2026, 11, 30), monkeypatch)
    assert load(stack).cluster
    on(date(2026, 12, 1), monkeypatch)
    assert "2026-11-30" in mistakes(stack)["cluster.kubernetesVersion"]


def test_a_version_past_long_term_support_too_is_not_offered_it(monkeypatch: pytest.MonkeyPatch) -> None:
    on(date(2027, 8, 1), monkeypatch)
    for plan in ("KubernetesOfficial", LTS):
        found = mistakes(changed(cluster=cluster(kubernetesVersion="1.33", supportPlan=plan)))
        assert "supportPlan" not in found["cluster.kubernetesVersion"]


def test_a_version_that_may_have_come_since_the_table_was_written_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded(cluster=cluster(kubernetesVersion="1.38")).cluster
    later = changed(cluster=cluster(kubernetesVersion="1.40"))
    assert (
        "is not a Kubernetes version: AKS has 1.37, and 1.38 may come" in mistakes(later)["cluster.kubernetesVersion"]
    )
    on(date(2027, 6, 1), monkeypatch)
    assert load(later).cluster


@pytest.mark.parametrize("name", ["dev", "sriov", "ipoib", "dra", "mixed"])
@pytest.mark.field_report("R1")
def test_the_stacks_versions_have_nine_months_left_and_are_named_by_both_operators(name: str) -> None:
    file = Path(__file__).parents[3] / f"Pulumi.{name}.yaml"
    settings = made(load(yaml.safe_load(file.read_text())["config"])).settings
    release = RELEASES[minor_of(settings.kubernetes_version)]
    assert release.last_day(settings.support_plan) >= date(2027, 8, 22)
    assert DEFAULT_RELEASE.unnamed(settings.kubernetes_version) == []


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.31.9", ["GPU Operator 26.3 names 1.32 to 1.36"]),
        ("1.32.11", []),
        ("1.36", ["Network Operator 26.4 names 1.31 to 1.35"]),
    ],
)
def test_of_a_version_that_an_operator_does_not_name_is_known_what_it_names(version: str, said: list[str]) -> None:
    assert DEFAULT_RELEASE.unnamed(version) == said
