"""The flags --junit and --ctrf, and the files that they name."""

import argparse
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from aks_infiniband.terminal import printable_json

from aks_infiniband_cli.test_results.cases import Suite


def declare_test_results(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    for flag, form in (("--junit", "JUnit XML"), ("--ctrf", "CTRF JSON")):
        text = f"write each check as a test case, as {form}, into this file, which must not be there yet"
        parser.add_argument(flag, type=Path, metavar="FILE", help=text)


def named_test_results(flags: argparse.Namespace) -> dict[str, Path]:
    """The files that the flags name, by flag."""
    named = {"--junit": flags.junit, "--ctrf": flags.ctrf}
    return {flag: file for flag, file in named.items() if file is not None}


def write_test_results(suites: Sequence[Suite], named: Mapping[str, Path]) -> None:
    """Write the files that were named. Raises FileExistsError: no file is overwritten."""
    for flag, file in named.items():
        text = _junit(suites) if flag == "--junit" else _ctrf(suites)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)


def _junit(suites: Sequence[Suite]) -> str:
    from aks_infiniband_cli.test_results.junit import junit  # noqa: PLC0415 only if it is wanted

    return junit(suites)


def _ctrf(suites: Sequence[Suite]) -> str:
    from aks_infiniband_cli.test_results.ctrf import ctrf  # noqa: PLC0415 as above

    document = json.dumps(ctrf(suites, datetime.now(UTC)), indent=2, ensure_ascii=False)
    return printable_json(document) + "\n"
