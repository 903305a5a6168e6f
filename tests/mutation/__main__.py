"""Lists changes of the library that no test notices: `make mutants`, with cosmic-ray on a sample.

Everything happens in a worktree of the last commit. First coverage.py writes down which test runs which line; then
cosmic-ray makes one change after the other, and `covering` runs the tests of the changed line.
"""

import argparse
import random
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rehearsal.tools.paths import PROJECT
from tests.mutation.covering import CONTEXTS, FALLBACK, NO_TEST, NOT_PYTHON, environment

_FOLDER: Final = PROJECT / ".tools" / "mutation"
_TREE: Final = _FOLDER / "tree"
_SESSION: Final = _FOLDER / "session.sqlite"
_REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")
_ROOMS: Final = ("stack", "operators", "azure", "workload", "hosts", "resources")
_LIMIT_SECONDS: Final = 400
_OPERATORS: Final = "core/ReplaceBinaryOperator_BitOr_%"
"""Left out: nearly every | of the library is of a type."""


def main() -> None:
    """Make the session, carry it out, and list what survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=200, help="how many changes are tried; default: %(default)s")
    parser.add_argument("--seed", default="1", help="of the sample; default: %(default)s")
    parser.add_argument("--rooms", nargs="+", default=_ROOMS, help="folders of the library")
    given = parser.parse_args()
    cosmic_ray = _installed()
    _worktree()
    _contexts(given.rooms)
    _session(cosmic_ray, given.rooms)
    _keep(given.sample, given.seed)
    subprocess.run([cosmic_ray, "exec", _config(given.rooms), _SESSION], cwd=_TREE, env=environment(_TREE), check=True)
    print("\n".join(told()))


def _installed() -> Path:
    """cosmic-ray in another environment than ours: it brings a dozen packages that nothing else needs."""
    venv = _FOLDER / "venv"
    program = venv / "bin" / "cosmic-ray"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = venv / "bin" / "pip"
        subprocess.run([pip, "install", "--quiet", "--require-hashes", "--requirement", _REQUIREMENTS], check=True)
    return program


def _worktree() -> None:
    subprocess.run(["git", "worktree", "remove", "--force", _TREE], cwd=PROJECT, check=False, capture_output=True)
    subprocess.run(["git", "worktree", "add", "--force", "--detach", _TREE, "HEAD"], cwd=PROJECT, check=True)


def _contexts(rooms: Sequence[str]) -> None:
    """Write down which test runs which line."""
    sources = ",".join(f"components/aks_infiniband/{room}" for room in rooms)
    config = _FOLDER / "coverage.ini"
    config.write_text(f"[run]\ndynamic_context = test_function\ndata_file = {_FOLDER / CONTEXTS}\n")
    coverage = [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", f"--include={_patterns(sources)}"]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *FALLBACK]
    if subprocess.run([*coverage, *tests], cwd=_TREE, env=environment(_TREE), check=False).returncode:
        sys.exit("a test fails without any change: it would be taken for one that notices")


def _patterns(sources: str) -> str:
    return ",".join(f"{source}/*" for source in sources.split(","))


def _config(rooms: Sequence[str]) -> Path:
    file = _FOLDER / "cosmic-ray.toml"
    modules = ", ".join(f'"components/aks_infiniband/{room}"' for room in rooms)
    command = shlex.join([sys.executable, "-m", "tests.mutation.covering", str(_FOLDER / CONTEXTS)])
    file.write_text(
        f"[cosmic-ray]\nmodule-path = [{modules}]\ntimeout = {_LIMIT_SECONDS}\nexcluded-modules = []\n"
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    return file


def _session(cosmic_ray: Path, rooms: Sequence[str]) -> None:
    _SESSION.unlink(missing_ok=True)
    subprocess.run([cosmic_ray, "init", _config(rooms), _SESSION], cwd=_TREE, env=environment(_TREE), check=True)


def _keep(sample: int, seed: str) -> None:
    """Leave so many changes in the session, drawn by lot."""
    with sqlite3.connect(_SESSION) as session:
        session.execute("DELETE FROM mutation_specs WHERE operator_name LIKE ?", (_OPERATORS,))
        known = sorted(row[0] for row in session.execute("SELECT job_id FROM mutation_specs"))
        kept = random.Random(seed).sample(known, min(sample, len(known)))
        marks = ",".join("?" * len(kept))
        session.execute(f"DELETE FROM mutation_specs WHERE job_id NOT IN ({marks})", kept)
        session.execute(f"DELETE FROM work_items WHERE job_id NOT IN ({marks})", kept)
        print(f"{len(kept)} of {len(known)} changes are tried", flush=True)


def told() -> Iterator[str]:
    """The changes that survived, and the share that a test noticed."""
    with sqlite3.connect(_SESSION) as session:
        rows = session.execute(
            "SELECT module_path, start_pos_row, operator_name, test_outcome, diff, output FROM mutation_specs "
            "JOIN work_results USING (job_id) ORDER BY module_path, start_pos_row"
        ).fetchall()
    # cosmic-ray counts all three as noticed: the star of a signature, which it changes like a product, a run without a
    # test, and a slow machine.
    rows = [
        row[:-1] for row in rows if row[-1] != "timeout" and not any(why in row[-1] for why in (NOT_PYTHON, NO_TEST))
    ]
    outcomes = Counter(outcome for *_, outcome, _ in rows)
    for path, line, operator, outcome, diff in rows:
        if outcome == "SURVIVED":
            changed = [text for text in diff.splitlines() if text[:1] in "+-" and text[:3] not in ("+++", "---")]
            yield f"{path}:{line}: {operator}"
            yield from (f"    {text}" for text in changed)
    noticed = len(rows) - outcomes["SURVIVED"]
    yield f"{noticed} of {len(rows)} were noticed ({noticed / max(1, len(rows)):.0%}): {dict(outcomes)}"


if __name__ == "__main__":
    main()
