"""Names from reports and states become names of files in the given folder, and in no other."""

import json
from pathlib import Path

import pytest
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report.files import file_name
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.command_line.test_report_page import report, state


@given(st.text(st.characters(), max_size=300))
def test_whatever_a_name_is_its_file_lies_in_the_folder(name: str) -> None:
    path = Path("/folder") / f"{file_name(name)}.png"
    assert path.parent == Path("/folder")
    assert path.name.isascii()
    assert path.name.isprintable()
    assert 4 < len(path.name) < 120
    assert not path.name.startswith(".")


@given(st.lists(st.text("aA./_-é\x00", max_size=4), min_size=2, unique=True))
def test_two_names_are_never_one_file_even_where_case_does_not_count(names: list[str]) -> None:
    assert len({file_name(name).lower() for name in names}) == len(names)


def test_a_plain_name_stays_as_it_is() -> None:
    assert file_name("ndh100-all-reduce") == "ndh100-all-reduce"


@pytest.mark.parametrize("pool", ["../../escaped", "/escaped", "a\x00$x^{$\nb"])
def test_a_pool_of_any_name_is_drawn_within_the_folder(
    pool: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "there" / "below"
    own.mkdir(parents=True)
    (own / "state.json").write_text(state(report(pool=pool, rdma=[])))
    assert main(["report", "--state", str(own / "state.json"), "--out", str(own / "page"), "--output", "json"]) == 1
    files = [Path(file) for file in json.loads(capsys.readouterr().out)["files"]]
    assert {file.parent for file in files} == {own / "page"}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {own / "state.json", *files}
