"""Each managed cluster of a rehearsal has a separate control plane."""

from pathlib import Path

from rehearsal.run.folder import RunFolder


def test_a_run_folder_tells_its_clusters_the_first_one_first(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    for number in (3, 2):
        run.further(number).root.mkdir(parents=True)
    assert run.clusters() == [run, run.further(2), run.further(3)]
