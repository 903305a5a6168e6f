"""Upgrades: the stack file that says what Azure has, and the requests to AKS."""

from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade.written import Versions, write

from tests.cases import Case


def outcome_of_writing(case: Case) -> list[str]:
    """The `text` of a stack file after each of the `versions`, or why it stays as it is."""
    shown = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "Pulumi.x.yaml"
        file.write_text(case["text"])
        for versions in case["versions"]:
            before = file.read_text()
            try:
                assert write(file, Versions(**versions)) == (file.read_text() != before)
                shown.append(file.read_text())
            except CommandError as error:
                assert file.read_text() == before
                shown.append(str(error).replace(f"{folder}/", ""))
    return shown


class _Service:
    """The cluster and its pool in Azure, in one state and with one requested version."""

    def __init__(self, state: str, version: str) -> None:
        self.provisioning_state, self.kubernetes_version, self.orchestrator_version = state, version, version
        self.current_kubernetes_version, self.location = "1.35.8", "southcentralus"
        self.agent_pool_profiles: list[Any] = []
        self.node_image_version = None
        self.requests = 0

    def get(self, *_: Any) -> Any:
        return self

    def begin(self, *_: Any) -> Any:
        self.requests += 1
        return SimpleNamespace(done=lambda: True, result=lambda: None)

    begin_create_or_update = begin_upgrade_node_image_version = begin


def outcome_of_requests(case: Case) -> dict[str, str]:
    """The number of requests to AKS for an upgrade to Kubernetes 1.36, or to another image, if AKS is in a `state` and
    has a requested `version`; and the progress of the operation then and in `later` states.
    """
    shown = {}
    for what in case.get("what", ("control plane", "pool", "image")):
        service, aks = _Service(case["state"], case.get("version", "1.36")), Aks.__new__(Aks)
        aks._client = SimpleNamespace(managed_clusters=service, agent_pools=service)  # type: ignore[assignment]
        aks._place = ("g", "c")
        if what == "control plane":
            operation = aks.upgrade_control_plane("1.36")
        else:
            operation = aks.upgrade_pool("nd", "1.36") if what == "pool" else aks.upgrade_image("nd")
        stands = []
        for state in (case["state"], *case.get("later", ())):
            service.provisioning_state = state
            stands.append((operation.failure() or "done") if operation.done() else "under way")
        shown[what] = f"{service.requests} requests; {', then '.join(stands)}"
    return shown
