"""One deployment on the simulated cloud, timed: our program's, or the public guides' order."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml
from aks_infiniband_cli.report.timeline import Link, from_result, longest_chain
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Pod

from benchmark.makespan.deployments import Case, project
from rehearsal.control_plane import RunFolder
from rehearsal.engine.events import Diagnostic, Event, Step
from rehearsal.outcome.reports import Known
from rehearsal.outcome.result import result
from rehearsal.session import Rehearsal, pulumi
from rehearsal.tools.paths import PROJECT

_SUBSCRIPTION: Final = PROJECT / "rehearsal" / "azure" / "subscription.yaml"
_FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"


class DeploymentError(Exception):
    """A deployment failed; the text has what the engine said."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The duration of one deployment."""

    case: Case
    simulated_s: float
    """Seconds of the simulated clock: of the longest chain, the part in which resources were made."""
    measuring_s: float
    """Real seconds in which validations of the chain measured: with real processes, which no clock speeds up."""
    engine_s: float
    """Real seconds in which program and engine were at work, before, between and after the chain's resources."""
    chain: list[tuple[str, float]]
    """Its resources, each with its seconds of the simulated clock."""

    @property
    def makespan_s(self) -> float:
        """Seconds that it takes if the cloud is as slow as the real one, and all else as slow as here."""
        return self.simulated_s + self.measuring_s + self.engine_s


def timed(case: Case, *, speed: float) -> Timing:
    """Deploy, and take it away again.

    speed: simulated seconds in a real one. The time of this machine that providers and simulated machines need while a
    resource is made is counted that many times.

    Raises DeploymentError.
    """
    with TemporaryDirectory(prefix="makespan-") as name:
        folder = Path(name)
        rehearsal = Rehearsal(
            project=project(case, folder / "project"),
            stack=case.stack,
            run=RunFolder.at(folder / "run"),
            speed=speed,
            subscription=None if case.first else _registered(folder / "subscription.yaml"),
        )
        with rehearsal.data_centre() as check:
            links, seconds = _brought_up(rehearsal, check)
            measuring = _measuring(rehearsal)
    # Before a pool the program itself awaits the feature, which the simulated subscription registers.
    made = [link for link in links if not link.waited or link.name.startswith("AgentPool ")]
    chain = [(link.name, (link.seconds - measuring.get(link.name, 0.0)) * speed) for link in made]
    return Timing(
        case=case,
        simulated_s=sum(simulated for _, simulated in chain),
        measuring_s=sum(measuring.get(link.name, 0.0) for link in made),
        engine_s=seconds - sum(link.seconds for link in made),
        chain=chain,
    )


def _measuring(rehearsal: Rehearsal) -> dict[str, float]:
    """By the Job of each validation: real seconds from its last node's being ready to its last pod's end."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}
    client = Client(config=KubeConfig.from_file(rehearsal.run.kubeconfig), trust_env=False)
    for pod in (pod.to_dict() for pod in client.list(Pod, namespace="*")):
        job, status = pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name"), pod["status"]
        if job and status.get("initContainerStatuses"):
            began[job] = max(began.get(job, 0.0), _last_end(status["initContainerStatuses"]))
            ended[job] = max(ended.get(job, 0.0), _last_end(status["containerStatuses"]))
    # The cluster's name ends in a digest, and the program's begins with its own.
    names = {job: job.rpartition("-")[0] for job in began}
    return {f"Job {prefix}{names[job]}": ended[job] - began[job] for job in began for prefix in ("", "rdma-")}


def _last_end(statuses: list[dict[str, Any]]) -> float:
    times = [status["state"]["terminated"]["finishedAt"] for status in statuses]
    return max(datetime.fromisoformat(time).timestamp() for time in times)


def _brought_up(rehearsal: Rehearsal, check: Callable[[], None]) -> tuple[list[Link], float]:
    """The longest chain, and the real seconds of all."""
    steps: list[Step] = []
    said: list[str] = []

    def see(event: Event) -> None:
        check()
        if isinstance(event, Step):
            steps.append(event)
        elif isinstance(event, Diagnostic) and event.severity == "error":
            said.append(event.message)

    engine = rehearsal.engine()
    begun = time.monotonic()
    succeeded = pulumi(engine, see, "up", "--yes", "--skip-preview")
    ended = time.monotonic()
    if not succeeded:
        raise DeploymentError(f"{rehearsal.stack} in {rehearsal.project}: {' '.join(said)}")
    times: dict[str, Any] = {"begun": begun, "ended": ended}
    document = result(stack=rehearsal.stack, status="succeeded", steps=steps, outputs={}, known=Known(), **times)
    return longest_chain(from_result(document, {"deployment": engine.deployment()})), ended - begun


def _registered(file: Path) -> Path:
    """The rehearsal's subscription, with the feature registered."""
    subscription = yaml.safe_load(_SUBSCRIPTION.read_text())
    subscription["features"][_FEATURE] = "Registered"
    file.write_text(yaml.safe_dump(subscription))
    return file
