"""The configuration of Sphinx, which makes one site of the pages: `make site`. Every warning is an error.

The pages are those of the repository. Written for the site alone are its first page (landing.md), the order of the
pages (navigation.py), and the API reference, which is made from the docstrings at each build (api.py).

The environment variable SITE is the address of the published site. With it, pages have a canonical address and a
picture for previews. REPOSITORY is the address of the repository. If it is on GitHub, pages have a link for edits.
"""

import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx
from sphinx.config import Config

sys.path.insert(0, str(Path(__file__).parents[2]))

from pages.site import api, navigation

_SITE: Final = Path(__file__).parent
_ROOT: Final = _SITE.parents[1]

project = "aks-infiniband"
author = "The authors of aks-infiniband"
version = release = tomllib.loads((_ROOT / "components/pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
extensions = [
    "pages.site.drawings",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/*/*.md",
    "examples/*/README.md",
    *(f"{name}.md" for name in navigation.names() if not name.startswith("docs/")),
]
exclude_patterns = [".*", "build", "dist", "docs/skill"]

myst_enable_extensions = ["alert", "colon_fence"]
myst_heading_anchors = 5
myst_fence_as_directive = ["mermaid"]
# Included parts begin with a second-level heading, or without one.
suppress_warnings = ["myst.header"]

# A message is found, and copied, as the program prints it.
smartquotes = False
# Docstrings name code in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True}

html_theme = "furo"
html_title = f"aks-infiniband {version}"
html_baseurl = os.environ.get("SITE", "")
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options: dict[str, str] = {"light_logo": "logo.svg", "dark_logo": "logo-dark.svg"}
if os.environ.get("REPOSITORY", "").startswith("https://github.com/"):  # the theme knows the links of few forges
    html_theme_options |= {
        "source_repository": os.environ["REPOSITORY"],
        "source_branch": "main",
        "source_directory": "",
    }
html_favicon = "static/logo.svg"

ogp_site_url = html_baseurl or "/"
ogp_site_name = "aks-infiniband"
ogp_image = "_static/preview.png"
ogp_image_alt = "The end of a rehearsal: every figure of a pool with its limit, and the verdict"
ogp_social_cards = {"enable": False}
copybutton_prompt_text = "$ "


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", _write_api)
    app.connect("source-read", _prepared)
    app.connect("autodoc-process-docstring", _with_list)
    app.connect("build-finished", _finish)


def _write_api(app: Sphinx, _config: Config) -> None:
    Path(app.srcdir, f"{api.NAME}.md").write_text(api.page(), encoding="utf-8")


def _with_list(_app: Sphinx, _kind: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    lines[:] = api.with_list(lines)


def _prepared(_app: Sphinx, name: str, source: list[str]) -> None:
    """The text of a page, as the site shows it."""
    if name == root_doc:
        source[0] = (_SITE / "landing.md").read_text(encoding="utf-8")
    source[0] = navigation.with_tabs(source[0]) + navigation.tables(name, root_doc)


def _finish(app: Sphinx, error: Exception | None) -> None:
    """Have the first page under the name that web servers look for, and llms.txt with the links of the site."""
    if error is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
        index = Path(app.srcdir, "llms.txt").read_text(encoding="utf-8")
        Path(app.outdir, "llms.txt").write_text(index.replace(".md)", ".html)"), encoding="utf-8")
