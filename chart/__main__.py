"""Writes the chart into a folder, and packs it: `python -m chart FOLDER`; with --unpacked it stays a folder."""

import argparse
import gzip
import io
import json
import tarfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.dranet import DEVICE_CLASS
from aks_infiniband.facts.modes import ACCESS, DEFAULT_MODE
from aks_infiniband.observability.documents import GROUPS
from aks_infiniband.validation.job_parts import digest
from aks_infiniband.validation.payload.talk.boards import PODS
from aks_infiniband.validation.program import payload_files

from chart import sentinels
from chart.documents import of_part, validation
from chart.pools import ANY_NIC, FEW, MODES, facts_of_sizes, kinds
from chart.schema import values_schema
from chart.writing import TABLE, Files, template

NAME: Final = "aks-infiniband-checks"
_PROJECT: Final = Path(__file__).parents[1]
_SOURCE: Final = Path(__file__).parent / "source"


def version() -> str:
    """Version of the chart: that of the components."""
    text = (_PROJECT / "components/pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def chart(sizes: Iterable[str], *, repository: str = "") -> dict[str, str]:
    """The chart's files for pools of these sizes, by path. repository: its address, for the chart's links."""
    sizes = list(sizes)
    every, files = list(kinds(sizes)), Files()
    templates: dict[str, str] = {}
    for document in validation(every):
        templates.update([template(document, "validation", files)])
    for part in ("lightCheck", "observability"):
        for document in of_part(part, every):
            path, text = template(document, part, files)
            assert path not in templates, f"two templates are {path}"
            templates[path] = text
    schema = values_schema()
    schema["properties"]["pools"]["items"]["properties"]["vmSize"]["enum"] = sorted(sizes)
    links = {"home": repository, "sources": [repository]} if repository else {}
    described = yaml.safe_load((_SOURCE / "Chart.yaml").read_text(encoding="utf-8"))
    return {
        "LICENSE": (_PROJECT / "LICENSE").read_text(encoding="utf-8"),
        "values.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        TABLE: files.table(),
        "files/pools.json": json.dumps(_pools(sizes), indent=1) + "\n",
        "templates/_filled.tpl": _filled(),
        **{str(path.relative_to(_SOURCE)): _written(path) for path in _SOURCE.rglob("*") if path.is_file()},
        "Chart.yaml": yaml.safe_dump({**described, "version": version(), "appVersion": version(), **links}),
        **files.texts,
        **templates,
    }


def _written(path: Path) -> str:
    words = {"PODS": str(PODS), "MIRROR": sentinels.MIRROR, "PROGRAM": digest(payload_files())}
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".tpl":
        for word, value in words.items():
            text = text.replace(word, value)
    return text


def _pools(sizes: list[str]) -> dict[str, Any]:
    """The templates' knowledge of sizes and modes, and the defaults."""
    modes = {
        mode: {
            "rdmaResource": ACCESS[mode].resource or "",
            "privileged": ACCESS[mode].privileged,
            "claims": ACCESS[mode].claims,
            "shared": bool(ACCESS[mode].resource) and not ACCESS[mode].each_hca,
        }
        for mode in MODES
    }
    defaults = {"mode": DEFAULT_MODE, "label": AGENT_POOL_LABEL, "deviceClass": DEVICE_CLASS, "few": FEW}
    return {
        "sizes": facts_of_sizes(sizes),
        "modes": modes,
        "defaults": {**defaults, "anyNic": ANY_NIC},
        "groups": dict(GROUPS),
    }


def _filled() -> str:
    """The template that fills a text: `sentinels` says with what."""
    steps = [
        f"{{{{- if contains `{mark}` $text }}}}{{{{ $text = replace `{mark}` ({expression}) $text }}}}{{{{ end }}}}"
        for mark, expression in sentinels.text_marks()
    ]
    begin = "{{- $root := index . 0 }}{{- $context := index . 1 }}{{- $text := index . 2 }}"
    about = "{{/* A text with what the values say in place of marks. Takes: root, context, text. */}}"
    return "\n".join([about, '{{- define "filled" }}', begin, *steps, "{{- $text }}", "{{- end }}"]) + "\n"


def write(files: Mapping[str, str], folder: Path) -> None:
    """The chart as a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def packed(files: Mapping[str, str]) -> bytes:
    """The chart as Helm packs it; the same files give the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(files):
            content = files[path].encode()
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def main() -> None:
    """Make it."""
    parser = argparse.ArgumentParser(prog="python -m chart", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unpacked", action="store_true")
    parser.add_argument("--repository", default="", help="address of the repository, for the chart's links")
    arguments = parser.parse_args()
    files = chart(SIZES, repository=arguments.repository)
    if arguments.unpacked:
        write(files, arguments.folder / NAME)
        print(arguments.folder / NAME)
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    archive = arguments.folder / f"{NAME}-{version()}.tgz"
    archive.write_bytes(packed(files))
    print(archive)


if __name__ == "__main__":
    main()
