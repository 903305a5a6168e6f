"""A cluster with the controllers that a module names, for its examples of jobs."""

from collections.abc import Iterator

import pytest

from rehearsal.tools.on_demand import UnavailableError
from tests.rehearsal.conftest import RehearseOurs

from .controllers import programs, running
from .jobs import NAMESPACE, Jobs


@pytest.fixture(scope="module")
def cluster(
    rehearse_ours: RehearseOurs, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Jobs]:
    """The stack dev, unmeasured, with a namespace for jobs and the controllers that the module names as RUNNING."""
    try:
        programs()
    except UnavailableError as error:
        pytest.skip(f"the controllers cannot be built here: {error}")
    stack = rehearse_ours("dev")
    stack.settings(validation={"mode": "off"}, workload={"namespaces": [NAMESPACE], "createNamespaces": True})
    up = stack.up()
    assert up.succeeded, up.said
    with running(request.module.RUNNING, stack.kubeconfig(), tmp_path_factory.mktemp("controllers")):
        yield Jobs(stack)


@pytest.fixture
def jobs(cluster: Jobs) -> Iterator[Jobs]:
    """The cluster, with no job on it before and after."""
    yield cluster
    cluster.clear()
