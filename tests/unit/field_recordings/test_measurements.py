"""Figures in real outputs are read rightly, and the simulated tools print rows of the same columns."""

import re
import threading
import time
from pathlib import Path

import pytest

from tests.unit.field_recordings.machines import PROGRAMS, enter
from tests.unit.field_recordings.recordings import excerpt

A100 = "Standard_ND96asr_v4"


@pytest.mark.parametrize(
    ("program", "arguments", "name"),
    [
        ("ib_write_bw", ["-s", "8388608", "-n", "5000", "--report_gbits"], "ib_write_bw-a100"),
        ("ib_read_lat", ["-s", "2", "-n", "1000"], "ib_read_lat-a100"),
        ("ibv_rc_pingpong", [], "ibv_rc_pingpong-a100"),
    ],
)
def test_the_simulated_tool_prints_the_same_columns_and_on_this_size_the_same_figures(
    program: str,
    arguments: list[str],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sys = enter(tmp_path, A100, monkeypatch)
    device = sorted(path.name for path in (sys / "class/infiniband").iterdir())[-1]
    call = ["-d", device, "-p", "18515", *arguments]
    server = threading.Thread(target=PROGRAMS[program], args=(call,), daemon=True)
    server.start()
    listens = tmp_path / "machines/wire/10.244.0.7_18515"
    deadline = time.monotonic() + 60
    while not listens.exists() and time.monotonic() < deadline:
        server.join(0.05)
    assert PROGRAMS[program]([*call, "10.244.0.7"]) == 0
    server.join(10)
    assert not server.is_alive()
    lines = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    for real in map(str.split, excerpt(name).splitlines()):
        heading = not re.match(r"\d", real[0])
        assert any(words(line, heading) == words(" ".join(real), heading) for line in lines), real


def words(line: str, heading: bool) -> list[str]:
    """A heading as it is; of a row the number of fields, and each field that is not a measured figure."""
    return line.split() if heading else [re.sub(r"^\d+\.\d+$", "FIGURE", field) for field in line.split()]
