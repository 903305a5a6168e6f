"""The names of `from aks_infiniband import …`; a change here is a change for every user of the library."""

import subprocess
import sys
from pathlib import Path

import aks_infiniband
import pytest

from benchmark.program import PROJECT
from tests.unit.library.public import NAMES, named


def test_the_public_names_are_these() -> None:
    assert Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").split() == NAMES


def test_every_public_name_is_found_and_listed() -> None:
    assert set(NAMES) <= set(dir(aks_infiniband))
    assert all(named(name) is not None for name in NAMES)


def test_a_name_that_is_not_public_is_not_found() -> None:
    with pytest.raises(AttributeError, match="No aks_infiniband attribute NoSuchThing"):
        aks_infiniband.NoSuchThing  # type: ignore[attr-defined]  # noqa: B018  the attribute access is the test


def test_the_catalogue_is_read_without_loading_pulumi() -> None:
    code = "import sys, aks_infiniband.facts.catalog; print('pulumi' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"


def test_a_program_does_not_load_what_costs_more_than_the_rest_of_it() -> None:
    """A client of the API server, which only a failed wait needs, and all of Azure's networking."""
    code = "import sys; from benchmark.program import cost; cost(1); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "pulumi_azure_native.containerservice.managed_cluster" in loaded
    assert not {"lightkube", "pulumi_azure_native.network.subnet"} & loaded
