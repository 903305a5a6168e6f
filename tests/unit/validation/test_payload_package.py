"""The files that travel into the pods are complete, self-contained, and run on an old Python."""

import ast
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation import payload
from aks_infiniband.validation.program import key_of, payload_files, program, program_volume

from rehearsal.machines.hardware.beneath import write_files

FOLDER = Path(payload.__file__).parent


def test_every_module_travels_and_nothing_else() -> None:
    kinds = (".json", ".py", ".ptx", ".sh")
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*") if path.suffix in kinds}
    assert set(payload_files(light_check=True)) == there
    assert set(payload_files()) == {path for path in there if not path.startswith("light_check/")}
    assert {"__init__.py", "await_nodes.py", "validate.py", "rdma/judge.py"} <= set(payload_files())


def test_a_pod_has_every_file_in_its_folder_although_a_key_has_no_slash() -> None:
    data, volume = program(light_check=True), program_volume("validation", payload_files(light_check=True))
    mounted = {item["path"]: data[item["key"]] for item in volume["configMap"]["items"]}
    assert mounted == payload_files(light_check=True)
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]+", key) for key in data)
    assert key_of("light_check/check.py") == "light_check.check.py"


def test_a_module_is_python_3_9_and_needs_the_standard_library_only() -> None:
    for name in sorted(name for name in payload_files(light_check=True) if name.endswith(".py")):
        allowed = sys.stdlib_module_names
        tree = ast.parse(payload_files(light_check=True)[name], feature_version=(3, 9))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).partition(".")[0] in allowed


def test_all_of_it_fits_into_a_config_map() -> None:
    """A ConfigMap holds 1 MiB, all keys together (Kubernetes, "ConfigMaps")."""
    assert sum(len(text.encode()) for text in program(light_check=True).values()) < 600_000


@pytest.mark.parametrize("module", ["payload.await_nodes", "payload.validate", "payload.light_check.check"])
def test_a_copy_of_the_files_runs_by_its_name(tmp_path: Any, monkeypatch: Any, capsys: Any, module: Any) -> None:
    write_files(tmp_path / "payload", payload_files(light_check=True))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["x", "--help"])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))

    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 0
    assert "--termination-log" in capsys.readouterr().out
