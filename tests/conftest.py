"""The distribution of the tests over workers: a module to one of them, and a folder whose modules share a
cluster too.
"""

import gc

gc.disable()  # collecting imports the whole of the SDKs, and none of it is garbage: see `pytest_collection_finish`

import signal  # noqa: E402
from typing import Any  # noqa: E402

import hypothesis  # noqa: E402
import pytest  # noqa: E402
from xdist.scheduler import LoadFileScheduling  # noqa: E402

# The time of an example depends on the machine and on the other programs on it.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell makes what it starts in the background deaf to Ctrl-C, and what tests start and end would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["rehearsal.testing.plugin"]
"""If the rehearsal is installed, pytest finds it by itself; a checkout is not installed."""
SHARING = ("tests/simulator/engine/machines/", "tests/rehearsal/replace/sixteen_machines/")
LONGEST = (
    "tests/real_tools/",
    "tests/rehearsal/replace/sixteen_machines/",
    "tests/rehearsal/validation/test_validation_on_the_engine.py",
    "tests/rehearsal/stacks/test_dev.py",
    "tests/rehearsal/validation/test_measuring.py",
    "tests/rehearsal/validation/test_measuring_faulty_hcas.py",
    "tests/rehearsal/stacks/test_what_goes_wrong.py",
    "tests/simulator/engine/operators/",
    "tests/simulator/engine/machines/",
    "tests/rehearsal/azure_components/",
    "tests/rehearsal/stacks/test_sriov.py",
    "tests/rehearsal/stacks/",
    "tests/rehearsal/",
    "tests/simulator/engine/",
    "tests/unit/settings/test_every_setting_reaches_the_engine.py",
)
"""Modules that begin first, so that no worker is left alone with a long module at the end; everything else follows."""


class OneClusterScheduling(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """A second worker would start a second cluster for the same folder."""

    def _split_scope(self, nodeid: str) -> str:
        shared = next((folder for folder in SHARING if nodeid.startswith(folder)), None)
        return shared or str(super()._split_scope(nodeid))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest modules first; the tests of each stay in their order."""
    items.sort(key=lambda item: next((n for n, begin in enumerate(LONGEST) if item.nodeid.startswith(begin)), 99))


def pytest_collection_finish() -> None:
    """From here on garbage is looked for again, though not among what the collection has left."""
    gc.enable()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneClusterScheduling:
    return OneClusterScheduling(config, log)
