"""Actions that a rehearsal took to succeed without doing them, such as the programs of charts' hooks."""

from datetime import datetime
from pathlib import Path
from typing import Any, Final

import httpx2
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ConfigError
from lightkube.resources.core_v1 import Event

_FIELDS: Final[dict[str, Any]] = {"reason": "NotRehearsed", "type": "Warning"}


def not_run(kubeconfig: Path, begun: float) -> list[str]:
    """Programs of Jobs that were not run since then, by pod; none if the cluster does not answer.

    A hook's Job is gone when it has succeeded, and so is its pod; the event stays. begun: in seconds since 1970.
    """
    try:
        client = Client(config=KubeConfig.from_file(kubeconfig), trust_env=False)
        events = [each.to_dict() for each in client.list(Event, namespace="*", fields=_FIELDS)]
    except (httpx2.HTTPError, ConfigError, OSError, ValueError):
        return []
    told = [event for event in events if event.get("lastTimestamp") and _seconds(event["lastTimestamp"]) >= int(begun)]
    return sorted({f"{_job(event)}: {event['message']}" for event in told})


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _job(event: dict[str, dict[str, str]]) -> str:
    """Namespace and name of the Job, whose pods have a random end."""
    pod = event["involvedObject"]
    return f"{pod['namespace']}/{pod['name'].rpartition('-')[0]}"
