"""A rehearsal's view of others' words is text: nothing of it reaches the terminal as a command."""

import io
from pathlib import Path

from rehearsal.engine.events import Diagnostic
from rehearsal.outcome.failure import print_failure
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.screen import Screen

FORGED = "the pod ended: \x1b[2J\x9b1;1Hnothing is wrong\u202e"


def test_a_message_of_a_pod_cannot_clear_the_screen(tmp_path: Path) -> None:
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=True, soft_wrap=True)
    progress = Progress(console=screen)
    for severity in ("error", "warning"):
        progress.show(Diagnostic(severity=severity, message=FORGED, urn=""))
    print_failure(screen, progress.errors, logs=tmp_path, command="make")
    written = file.getvalue()
    assert written.count(r"\x1b[2J\x9b1;1Hnothing is wrong\u202e") == 3
    assert "\x1b[2J" not in written
    assert not {"\x9b", "\u202e"} & set(written)
    assert "\x1b[31m" in written, "the screen's own colours stay"
