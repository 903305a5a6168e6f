"""The simulated Azure's calls to the local API server."""

import json
from pathlib import Path

from rehearsal.azure.clock import Clock
from rehearsal.azure.cluster_api import ClusterApi


def test_an_api_server_may_be_silent_for_minutes(tmp_path: Path) -> None:
    """A computer that is busy, or slept: 45 s failed the cluster, with one of Azure's error codes."""
    file = tmp_path / "kubeconfig"
    cluster, user = {"server": "https://127.0.0.1:1"}, {"token": "t"}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    named = {"clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}]}
    file.write_text(json.dumps({**named, "contexts": [context], "current-context": "c"}))
    api = ClusterApi(own=file, handed_out=file, clock=Clock(60))
    timeouts = api.client._client._client.timeout
    assert min(timeouts.connect or 0, timeouts.read or 0) >= 300
