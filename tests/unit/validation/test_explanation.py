"""Many rows of a failed validation; tests/unit/validation/cases/words.yaml and explanation.yaml have the others."""

from typing import Any

from aks_infiniband.validation.explanation import table
from aks_infiniband.validation.payload.look.alike import judge_versions
from aks_infiniband.validation.payload.say.checks import make_check

from tests.unit.validation.cases.telling import report_map, said


def check(name: Any = "hca-rate", verdict: Any = "fail", **changes: Any) -> Any:
    given = {"node": "n1", "device": "mlx5_ib2", "expected": 400, "measured": 200.0, "cause": "fewer lanes"}
    return make_check(name, verdict, **{**given, **changes})


def test_what_many_nodes_show_is_counted_in_a_table_and_the_cause_says_who_differs() -> None:
    facts: Any = {f"n{node:02}": {"versions": {"kernel": f"6.8.0-{1040 + node // 60}"}} for node in range(99)}
    (differing,) = judge_versions(facts)
    text = " ".join(" ".join(table([differing])).split())
    assert "2 different" in text
    assert "in kernel (n00 to n59, 60 in all: 6.8.0-1040; n60 to n98, 39 in all: 6.8.0-1041):" in text


def test_many_nodes_that_fail_alike_are_one_row_and_many_rows_are_cut_short() -> None:
    alike = [check(node=f"m{index}") for index in range(100)]
    assert "m0 to m99, 100 in all" in " ".join(" ".join(table(alike)).split())
    different = [check(node=f"m{index}", measured=index) for index in range(100)]
    text = said(report_map(different))
    assert text.count("fewer lanes") == 20
    assert "and 80 rows more" in text
