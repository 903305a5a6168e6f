"""A rehearsal's processes by hand: `python -m rehearsal.control_plane up|down --run FOLDER`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence

from rehearsal.control_plane import ALL_PARTS, ControlPlane, ControlPlaneError, UnknownPartError, down
from rehearsal.run.arguments import speed

LOOK_EVERY_S = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Starts the parts and stays until Ctrl-C, or leaves them running with --keep. Leftovers of a run are
    ended, too.
    """
    parser = argparse.ArgumentParser(prog="python -m rehearsal.control_plane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up_parser = commands.add_parser("up", help="start the parts")
    up_parser.add_argument("--run", required=True, help="the run folder; it is emptied")
    up_parser.add_argument("--speed", type=speed, default=1.0, help="simulated seconds per real second")
    up_parser.add_argument("--parts", default=",".join(ALL_PARTS), help=f"with commas, of: {','.join(ALL_PARTS)}")
    up_parser.add_argument("--keep", action="store_true", help="leave them running")
    down_parser = commands.add_parser("down", help="end all processes of a run folder")
    down_parser.add_argument("--run", required=True, help="the run folder")
    options = parser.parse_args(arguments)
    if options.command == "down":
        for name in down(options.run):
            print(f"ended {name}")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _up(options)
    except (ControlPlaneError, UnknownPartError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _up(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    with ControlPlane.start(
        options.run,
        speed=options.speed,
        parts=options.parts.split(","),
        on_part_ready=lambda part, after_s: print(f"{part}: ready after {after_s:.2f} s", flush=True),
    ) as control_plane:
        print(f"ready after {time.monotonic() - begun:.2f} s; logs are in {control_plane.run.logs}")
        print(f"export KUBECONFIG={control_plane.kubeconfig}", flush=True)
        if options.keep:
            control_plane.keep()
            return 0
        while True:
            control_plane.check()
            time.sleep(LOOK_EVERY_S)


if __name__ == "__main__":
    sys.exit(main())
