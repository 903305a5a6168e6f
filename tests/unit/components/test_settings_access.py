"""Names that Azure takes, who reaches the API server, and who logs in."""

from typing import Any

import pulumi
import pytest

from tests.unit.components.stack_files import changed, cluster, loaded, mistakes

GROUP = "01234567-89ab-cdef-0123-456789abcdef"


def wrong(**more: Any) -> dict[str, str]:
    return mistakes(changed(cluster=cluster(**more)))


def test_a_default_name_of_which_azure_makes_too_long_a_group_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "pretraining-at-large-in-texas")
    found = wrong()
    assert "pretraining-at-large-in-texas' if nothing else is given" in found["cluster.name"]
    assert "characters of 80: choose a shorter name" in found["cluster.name"]
    assert loaded(cluster=cluster(nodeResourceGroup="nodes"))
