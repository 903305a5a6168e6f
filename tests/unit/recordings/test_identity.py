"""The changes of a recorded resource that mean another resource in its place, and the required words of the
changelog.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.recordings.identity import identities, lost, unnamed

POOL = "azure-native:containerservice:AgentPool"
RECORDING: dict[str, Any] = {
    "resources": [
        {
            "urn": f"lib:index:Pool${POOL}::pool",
            "replaceOnChanges": ["osSKU"],
            "inputs": {"agentPoolName": "pool", "vmSize": "Standard_ND96isr_H100_v5", "osSKU": "Ubuntu", "count": 2},
        },
        {
            "urn": "kubernetes:apps/v1:DaemonSet::daemons",
            "provider": "pulumi:providers:kubernetes::lab",
            "inputs": {
                "metadata": {"name": "daemons", "namespace": "tools", "labels": {}},
                "spec": {"selector": {"matchLabels": {"app": "daemons"}}, "template": {}},
            },
        },
        {
            "urn": "kubernetes:batch/v1:Job::validate",
            "inputs": {"metadata": {"name": "validate-<hash>"}, "spec": {"template": {}}},
        },
        {"urn": "pulumi:providers:kubernetes::lab", "inputs": {"clusterIdentifier": "a", "kubeconfig": "b"}},
    ]
}


def after(change: Callable[[list[Any]], object]) -> dict[str, str]:
    """The losses when the recording changes so."""
    changed = copy.deepcopy(RECORDING)
    change(changed["resources"])
    return lost(identities(RECORDING), identities(changed))


def test_a_program_that_stays_loses_nothing() -> None:
    assert after(lambda resources: None) == {}


@pytest.mark.parametrize(
    ("resource", "path", "value", "label"),
    [
        (0, "inputs.vmSize", "Standard_HX176rs", f"{POOL}::pool"),
        (0, "inputs.agentPoolName", "other", f"{POOL}::pool"),
        (0, "inputs.osSKU", "AzureLinux", f"{POOL}::pool"),
        (1, "inputs.metadata.name", "other", "kubernetes:apps/v1:DaemonSet::daemons"),
        (1, "inputs.metadata.namespace", "other", "kubernetes:apps/v1:DaemonSet::daemons"),
        (1, "inputs.spec.selector", {}, "kubernetes:apps/v1:DaemonSet::daemons"),
        (1, "provider", "pulumi:providers:kubernetes::other", "kubernetes:apps/v1:DaemonSet::daemons"),
        (3, "inputs.clusterIdentifier", "other", "pulumi:providers:kubernetes::lab"),
    ],
)
def test_a_change_that_the_provider_answers_with_another_resource_is_found(
    resource: int, path: str, value: object, label: str
) -> None:
    found = after(lambda resources: _set(resources[resource], path, value))
    assert list(found) == [label]
    assert path.removeprefix("inputs.") in found[label]


@pytest.mark.parametrize(
    "urn", [f"lib:index:Pool${POOL}::other", f"{POOL}::pool", "lib:index:Pool$azure-native:other:AgentPool::pool"]
)
def test_another_name_parent_or_type_is_found(urn: str) -> None:
    assert list(after(lambda resources: _set(resources[0], "urn", urn))) == [f"{POOL}::pool"]


def test_a_resource_that_is_gone_is_found() -> None:
    assert list(after(lambda resources: resources.pop(1))) == ["kubernetes:apps/v1:DaemonSet::daemons"]


@pytest.mark.parametrize(
    ("resource", "path", "value"),
    [(0, "inputs.count", 4), (1, "inputs.metadata.labels", {"team": "lab"}), (3, "inputs.kubeconfig", "renewed")],
)
def test_a_change_in_place_loses_nothing(resource: int, path: str, value: object) -> None:
    assert after(lambda resources: _set(resources[resource], path, value)) == {}


def test_a_job_named_by_its_content_may_always_be_another() -> None:
    assert after(lambda resources: _set(resources[2], "inputs.spec.template", {"spec": {}})) == {}


def test_only_what_no_release_has_yet_counts_in_the_changelog() -> None:
    changelog = f"# Changelog\n\n## [Unreleased]\n\n- `{POOL}::new`\n\n## [0.1.0]\n\n- `{POOL}::old`\n"
    assert unnamed({f"{POOL}::new", f"{POOL}::old"}, changelog) == {f"{POOL}::old"}
    with pytest.raises(ValueError, match="Unreleased"):
        unnamed({f"{POOL}::new"}, "# Changelog\n\n## [0.1.0]\n")


def test_a_star_in_the_changelog_stands_for_users_own_names() -> None:
    changelog = f"# Changelog\n\n## [Unreleased]\n\n- `{POOL}::*-access`\n"
    others = {f"{POOL}::access", f"{POOL}::a100-report", "azure-native:other:AgentPool::h100-access"}
    assert unnamed({f"{POOL}::h100-access", *others}, changelog) == others


def _set(document: Any, path: str, value: object) -> None:
    *steps, last = path.split(".")
    for step in steps:
        document = document[step]
    document[last] = value
