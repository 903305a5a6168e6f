"""`make sizes`: published sizes with RDMA that the catalogue lacks."""

from pathlib import Path

import pytest
from aks_infiniband.facts.catalog import SIZES

from tests.published_sizes import compared, main, with_rdma


def test_every_size_of_the_catalogue_is_told_by_its_name() -> None:
    for name in SIZES:
        assert with_rdma(f"| [{name}](a.md) | 1 |") == {name}


def test_sizes_without_rdma_are_left_out() -> None:
    others = "Standard_NC24ads_A100_v4 Standard_D4s_v5 Standard_NC128ds_xl_RTXPRO6000BSE_v6 Standard_NV36ads_A10_v5"
    assert with_rdma(others) == set()


def test_what_only_one_of_both_has_is_said() -> None:
    assert compared({"Standard_HX1rs", "Standard_HX2rs"}, {"Standard_HX2rs", "Standard_HX3rs"}) == [
        "Standard_HX1rs: published, and not in the catalogue",
        "Standard_HX3rs: in the catalogue, and not published here",
    ]


def test_a_size_that_the_catalogue_lacks_fails_and_one_that_a_list_lacks_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sizes").mkdir()
    page = tmp_path / "sizes" / "hb.md"
    page.write_text("`Standard_HB176rs_v4`")
    assert main(str(tmp_path)) == 0
    page.write_text("`Standard_HB176rs_v4` `Standard_HB999rs_v9`")
    assert main(str(tmp_path)) == 1
    assert "Standard_HB999rs_v9: published, and not in the catalogue" in capsys.readouterr().out


def test_what_git_keeps_of_a_checkout_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "packed").write_text("`Standard_HB999rs_v9`")
    (tmp_path / "hb.md").write_text("`Standard_HB176rs_v4`")
    assert main(str(tmp_path)) == 0


def test_a_folder_without_any_size_is_no_success(tmp_path: Path) -> None:
    assert main(str(tmp_path)) == 2


@pytest.mark.parametrize("given", ["", "nowhere/at/all"])
def test_a_folder_that_is_not_there_is_named(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given) == 2
    assert f"PUBLISHED is {given!r}" in capsys.readouterr().err
