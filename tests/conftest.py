"""How the tests are spread over workers: a module to one of them, and a folder whose modules share a cluster too."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

SHARING = ("tests/rehearsal/machines/",)


class OneClusterScheduling(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """A second worker would start a second cluster for the same folder."""

    def _split_scope(self, nodeid: str) -> str:
        shared = next((folder for folder in SHARING if nodeid.startswith(folder)), None)
        return shared or str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneClusterScheduling:
    return OneClusterScheduling(config, log)
