"""The site: its navigation, its tabs, its API reference, and the layout of all versions."""

import json
import subprocess
import tarfile
from pathlib import Path

import aks_infiniband

from pages.site import api, navigation

ROOT = Path(__file__).parents[3]


def test_a_page_stands_once_in_the_navigation_and_is_there() -> None:
    names = list(navigation.names())
    assert len(names) == len(set(names))
    assert [name for name in names if name != api.NAME and not (ROOT / f"{name}.md").is_file()] == []


def test_bold_labels_between_two_comments_become_tabs_with_their_code() -> None:
    tabs = "<!-- tabs -->\n\n**Python**\n\n```python\na\n```\n\n**Go**\n\n```go\nb\n```\n\n<!-- end of tabs -->\n"

    shown = navigation.with_tabs(f"Run it:\n\n{tabs}Then:\n")

    assert shown.index("{tab-item} Python") < shown.index("```python\na\n```") < shown.index("{tab-item} Go")
    assert shown.startswith("Run it:\n")
    assert shown.endswith("\nThen:\n")
    assert "**Python**" not in shown


def test_a_page_without_tabs_stays_as_it_is() -> None:
    assert navigation.with_tabs("**Python**\n\ntext\n") == "**Python**\n\ntext\n"


def test_the_reference_has_every_public_name_once() -> None:
    page = api.page()
    shown = [line.rpartition(".")[2] for line in page.splitlines() if line.startswith(".. auto")]
    assert sorted(shown) == sorted(aks_infiniband.__all__)


def test_arguments_of_a_docstring_become_a_list_and_other_lines_stay() -> None:
    docstring = [
        "Do it.",
        "",
        "name: of the pool, with",
        "    a second line.",
        "count: how many.",
        "",
        "Raises ValueError.",
    ]

    assert api.with_list(docstring) == [
        "Do it.",
        "",
        "- `name`: of the pool, with",
        "  a second line.",
        "- `count`: how many.",
        "",
        "Raises ValueError.",
    ]


def test_each_release_has_a_folder_and_the_first_page_leads_to_the_newest(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("a page")
    archives = tmp_path / "archives"
    archives.mkdir()
    for version in ("0.9.0", "0.10.0"):
        with tarfile.open(archives / f"aks-infiniband-{version}-site.tgz", "w:gz") as archive:
            archive.add(tmp_path / "index.html", "index.html")

    subprocess.run([ROOT / ".ci" / "published-site", archives, tmp_path / "site"], check=True)

    site = tmp_path / "site"
    assert json.loads((site / "versions.json").read_text()) == ["0.10.0", "0.9.0"]
    assert "url=0.10.0/" in (site / "index.html").read_text()
    assert (site / "0.9.0" / "index.html").read_text() == "a page"


def test_a_folder_without_a_site_is_refused(tmp_path: Path) -> None:
    command = [ROOT / ".ci" / "published-site", tmp_path, tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has no aks-infiniband-VERSION-site.tgz" in done.stdout
