"""Each managed cluster of a rehearsal has a separate control plane."""

from pathlib import Path

import pytest

from rehearsal.run.arguments import clusters
from rehearsal.run.folder import RunFolder


def test_a_run_folder_tells_its_clusters_the_first_one_first(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    for number in (3, 2):
        run.further(number).root.mkdir(parents=True)
    assert run.clusters() == [run, run.further(2), run.further(3)]


@pytest.mark.parametrize("given", ["0", "9", "-1", "two", "1.5", ""])
def test_a_number_of_clusters_that_cannot_be_is_told_with_what_can_be(given: str) -> None:
    with pytest.raises(Exception, match="must be a whole number from 1 to 8"):
        clusters(given)
