"""The afternoon's two pages: what is typed, and each program's files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tests.snippets import snippets

Language = Literal["python", "yaml", "nodejs"]


@dataclass(frozen=True, kw_only=True)
class Day:
    """What is typed and what is written, as the page has it. path: what puts the wheel's provider on the PATH."""

    install: str
    path: str = ""
    checks: str
    breaks: str
    mends: str
    workload: str
    stop: str
    files: Mapping[str, str]


def _in_python() -> Day:
    install, types, unit, breaks, mends, workload, stop = snippets("afternoon.md", "sh")
    files = (*snippets("afternoon.md", "yaml"), *snippets("afternoon.md", "python"), *snippets("afternoon.md", "toml"))
    written = ("Pulumi.yaml", "Pulumi.prod.yaml", "broken.yaml", "mended.yaml")
    names = (*written, "fleet.py", "__main__.py", "test_fleet.py", "pyproject.toml")
    named = dict(zip(names, files, strict=True))
    commands = {"breaks": breaks, "mends": mends, "workload": workload, "stop": stop}
    return Day(install=install, checks=types + unit, **commands, files=named)


def _in(language: Literal["yaml", "nodejs"]) -> Day:
    page = "afternoon-in-other-languages.md"
    install, path, checks, breaks, mends, workload, stop = snippets(page, "sh")
    stack_file, in_yaml, of_typescript, broken, mended = snippets(page, "yaml")
    files = {"Pulumi.prod.yaml": stack_file, "broken.yaml": broken, "mended.yaml": mended}
    if language == "yaml":
        files["Pulumi.yaml"] = in_yaml
    else:
        files["Pulumi.yaml"] = of_typescript
        files |= zip(("package.json", "tsconfig.json"), snippets(page, "json"), strict=True)
        files |= zip(("fleet.ts", "index.ts", "fleet.test.ts"), snippets(page, "ts"), strict=True)
    commands = {"breaks": breaks, "mends": mends, "workload": workload, "stop": stop}
    return Day(install=install, path=path, checks=checks, **commands, files=files)


DAYS: Final[Mapping[Language, Day]] = {"python": _in_python(), "yaml": _in("yaml"), "nodejs": _in("nodejs")}
