"""The policy for NVSentinel on the page is in the form that NVSentinel publishes, and is about our condition."""

import re
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.validation.payload.light_check.state import CONDITION

PAGE: Final = Path(__file__).parents[3] / "docs" / "light-check.md"
POLICY: Final = {
    "name": str,
    "enabled": bool,
    "resource": {"group": str, "version": str, "kind": str},
    "predicate": {"expression": str},
    "healthEvent": {
        "componentClass": str,
        "isFatal": bool,
        "message": str,
        "recommendedAction": str,
        "errorCode": list,
    },
}
"""NVIDIA/NVSentinel, health-monitors/kubernetes-object-monitor, the Go types Policy, ResourceSpec, PredicateSpec and
HealthEventSpec; what is optional there is left out. Read 2026-11-28."""
CONDITION_IS: Final = re.compile(
    r'resource\.status\.conditions\.filter\(c, c\.type == "(\w+)" && c\.status == "(\w+)"\)\.size\(\) > 0'
)
"""The pattern of its page for a node's condition (docs/configuration/kubernetes-object-monitor.md)."""


def has_form(found: Any, form: Any) -> bool:
    if isinstance(form, dict):
        return (
            isinstance(found, dict)
            and found.keys() == form.keys()
            and all(has_form(found[key], each) for key, each in form.items())
        )
    return isinstance(found, form)


def test_the_policy_has_the_published_form_and_matches_a_node_that_is_not_healthy() -> None:
    (text,) = re.findall(r"```yaml\n(global:\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    values = yaml.safe_load(text)
    assert values["global"] == {"kubernetesObjectMonitor": {"enabled": True}}
    (policy,) = values["kubernetes-object-monitor"]["policies"]
    assert has_form(policy, POLICY)
    assert policy["resource"] == {"group": "", "version": "v1", "kind": "Node"}
    found = CONDITION_IS.fullmatch(policy["predicate"]["expression"].strip())
    assert found is not None
    assert found.groups() == (CONDITION, "False")
