"""What travels into the pods is complete, self-contained, and runs on an old Python."""

import ast
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation import payload
from aks_infiniband.validation.job import payload_files

FOLDER = Path(payload.__file__).parent


def test_every_module_travels_and_nothing_else() -> None:
    assert set(payload_files()) == {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".ptx", ".sh")}
    assert {"__init__.py", "await_nodes.py", "validate.py"} <= set(payload_files())


@pytest.mark.parametrize("name", sorted(name for name in payload_files() if name.endswith(".py")))
def test_a_module_is_python_3_9_and_needs_the_standard_library_only(name: Any) -> None:
    allowed = sys.stdlib_module_names
    tree = ast.parse(payload_files()[name], feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name.partition(".")[0] for alias in node.names} <= allowed
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert str(node.module).partition(".")[0] in allowed


def test_all_of_it_fits_into_a_config_map() -> None:
    """A ConfigMap holds 1 MiB, all keys together (Kubernetes, "ConfigMaps")."""
    assert sum(len(text.encode()) for text in payload_files().values()) < 500_000


@pytest.mark.parametrize("module", ["payload.await_nodes", "payload.validate"])
def test_a_copy_of_the_files_runs_by_its_name(tmp_path: Any, monkeypatch: Any, capsys: Any, module: Any) -> None:
    (tmp_path / "payload").mkdir()
    for name, text in payload_files().items():
        (tmp_path / "payload" / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["x", "--help"])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 0
    assert "--termination-log" in capsys.readouterr().out
