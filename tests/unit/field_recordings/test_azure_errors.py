"""Azure's recorded answers are distinguished: errors that pass by themselves, the time to wait, and the remedy."""

import pytest
from aks_infiniband.diagnosis.azure import asked_to_wait, azure_findings, is_transient

from tests.unit.field_recordings.recordings import recorded

ERRORS = {entry["name"]: entry for entry in recorded("azure-errors")}


@pytest.mark.field_report("R16")
def test_an_answer_is_tried_again_only_when_it_can_pass_by_itself() -> None:
    for entry in ERRORS.values():
        assert is_transient(entry["excerpt"]) is entry["transient"]


def test_the_pause_that_azure_asks_for_is_read() -> None:
    for entry in ERRORS.values():
        assert asked_to_wait(entry["excerpt"]) == entry.get("wait_seconds", 0)


def test_an_answer_that_lasts_has_a_cause() -> None:
    for entry in [e for e in ERRORS.values() if not e["transient"]]:
        findings = azure_findings(entry["excerpt"], {"vmSize": "Standard_ND96isr_H100_v5"})
        assert findings, "nothing is said of it"
        assert entry["cause"].casefold() in str(findings[0].cause).casefold()
