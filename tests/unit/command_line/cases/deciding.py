"""Answers on a workload, and the way to InfiniBand that fits."""

from typing import Any

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import decide
from aks_infiniband_cli.choose.page import decision_lines, document_of
from aks_infiniband_cli.console import CommandError

from tests.cases import Case


def outcome_of_answers(case: Case) -> dict[str, Any] | str:
    """The decision without its price, as a person and a program read it; or why the answers are refused."""
    answers = Answers(**{**case, "workloads": tuple(case["workloads"])})
    try:
        found = {**document_of(decide(answers), answers.region), "price": None}
    except CommandError as error:
        return str(error)
    text = "\n".join(line.plain for line in decision_lines(found))
    return {"count": found["count"], "gpu_driver": found["gpu_driver"], "text": text}
