"""A build's words on the rest of its work."""

from pathlib import Path

import pytest

from rehearsal.tools.progress import LINK_COST, PACKAGE_COST, Package, Progress, in_minutes, read_listing


def test_a_package_is_as_dear_as_its_source(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("x" * 100)
    (tmp_path / "b.go").write_text("x" * 20)
    (package,) = read_listing(f"example.com/one\t{tmp_path}\ta.go,b.go,of_the_overlay.go\n")
    assert (package.path, package.cost) == ("example.com/one", PACKAGE_COST + 120)
    (empty,) = read_listing(f"example.com/only-assembly\t{tmp_path}\t\n")
    assert empty.cost == PACKAGE_COST


def _packages(*names: str, folder: str = "modules") -> tuple[Package, ...]:
    return tuple(Package(name, f"{folder}/{name}", LINK_COST - PACKAGE_COST) for name in names)


def test_half_done_has_as_long_to_go_as_it_took() -> None:
    progress = Progress()
    progress.add("pulumi", _packages("a", "b", "c"))
    assert progress.left_s(60) is None
    assert progress.compiled("pulumi", "go: downloading b v1\na\nc\n") == (2, 3)
    assert progress.left_s(60) == pytest.approx(60)
    progress.built("pulumi")
    assert progress.left_s(90) == 0


def test_a_package_that_two_programs_share_counts_once() -> None:
    progress = Progress()
    progress.add("kubernetes", _packages("a", "b"))
    progress.add("pulumi", _packages("a", "c"))
    assert progress.compiled("pulumi", "c\n") == (1, 1)


def test_a_package_in_two_versions_counts_twice() -> None:
    progress = Progress()
    progress.add("kubernetes", _packages("a"))
    progress.add("pulumi", _packages("a", folder="another-version"))
    assert progress.compiled("pulumi", "") == (0, 1)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(5, "less than a minute left"), (60, "about 1 min left"), (61, "about 2 min left"), (600, "about 10 min left")],
)
def test_what_is_left_is_said_in_minutes(seconds: float, said: str) -> None:
    assert in_minutes(seconds) == said
