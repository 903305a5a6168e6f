"""A test run as JUnit XML."""

from collections.abc import Iterable
from io import BytesIO

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from aks_infiniband_cli.test_results.cases import Case, Suite


def junit(suites: Iterable[Suite]) -> str:
    """The document."""
    whole = JUnitXml("aks-infiniband")
    for suite in suites:
        pool = TestSuite(suite.pool)
        if suite.finished is not None:
            pool.timestamp = suite.finished.isoformat(timespec="seconds")
        pool.add_testcases([_case(suite.pool, case) for case in suite.cases])
        whole.add_testsuite(pool)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    written = BytesIO()
    whole.write(written, pretty=True)
    return written.getvalue().decode("utf-8")


def _case(pool: str, case: Case) -> TestCase:
    """A case in the class of its node, or of the pool if the check is of no one node."""
    made = TestCase(case.title, classname=f"{pool}.{case.node}" if case.node else pool)
    said = f"{case.verdict}: {case.told}"
    if case.outcome == "failed":
        made.result = [Failure(message=said)]
    elif case.outcome == "skipped":
        made.result = [Skipped(message=said)]
    else:
        made.system_out = said
    return made
