"""Reports in files: one reader of every form in which people have them."""

from collections.abc import Iterator
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.validation.reports import SCHEMA_VERSION, Report, kept_reports, whole_report

from aks_infiniband_cli.console import CommandError

FORMS: Final = (
    "a report, what `aks-infiniband validate --output json` prints or its --out keeps, or what `pulumi stack export` "
    "prints"
)
_Path = tuple[str, ...]


class _Pool(Form):
    report: dict[str, Any] | None = None


class _Document(Form):
    """The output of `validate` itself."""

    pools: dict[str, _Pool]


class _State(Form):
    """A stack's, as the engine exports it."""

    deployment: dict[str, Any]


def reports_of(text: str | bytes) -> Iterator[tuple[_Path, dict[str, Any]]]:
    """Each report, and its place. Raises HandwrittenError for a text of another form."""
    document = json_document(text)
    if isinstance(document, dict) and "checks" in document:
        yield (), document
    elif isinstance(document, dict) and "deployment" in document:
        for name, kept in kept_reports(formed(_State, document).deployment).items():
            yield ("deployment", name), dict(kept)
    else:
        for name, pool in formed(_Document, document).pools.items():
            if pool.report:
                yield ("pools", name), pool.report


def whole_reports(text: str | bytes, where: str) -> dict[str, Report]:
    """The whole reports of a file, by pool. Raises CommandError for a file without one.

    `where`: the file's name.
    """
    reports = dict[str, Report]()
    try:
        for path, report in reports_of(text):
            version = report.get("schema_version")
            if version != SCHEMA_VERSION:
                raise HandwrittenError(
                    f"is {version!r}, and this program reads {SCHEMA_VERSION}: use the release that made it",
                    (*path, "schema_version"),
                )
            try:
                reports[str(report.get("pool"))] = whole_report(report)
            except HandwrittenError as error:
                raise HandwrittenError(str(error), (*path, *error.path)) from error
    except HandwrittenError as error:
        raise CommandError(f"{where} cannot be read: {error.at_its_place()}. Give {FORMS}") from error
    if not reports:
        raise CommandError(f"{where} does not have a report: nothing was measured")
    return reports
