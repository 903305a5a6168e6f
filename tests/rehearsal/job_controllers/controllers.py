"""The real controllers of jobs, built from their modules, with their definitions and webhooks.

Nothing of theirs is kept in this project: the Go module proxy has it, and it is built once a machine.
"""

import fcntl
import os
import socket
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import trustme
import yaml

from rehearsal.control_plane.ports import held_ports
from rehearsal.tools.on_demand import built
from tests.rehearsal.waiting import eventually

from .table import CONTROLLERS, NAMESPACE

HERE: Final = Path(__file__).parent
_MUTATING, _VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"


_OVERLAY: Final = 'mount -t overlay overlay -o "lowerdir=$1:/etc" /etc && shift && exec "$@"'
_WITH_ETC: Final = ("unshare", "--map-root-user", "--mount", "sh", "-c", _OVERLAY, "sh")
"""Runs a program that finds a folder's files in /etc, too, in separate namespaces (Linux 5.11 and later)."""
_TRIES: Final = 3
_ONE_AT_A_TIME: Final = Path("/tmp/aks-infiniband-job-controllers.lock")
"""Held while controllers run: MPI Operator has port 8080 in its code (0.8.0, cmd/mpi-operator/app/server.go), and ends
if another one of this computer has it.
"""
_MOUNTED: Final = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")
"""The file that training-operator waits for, in addition to its Secret, before it starts. Its webhook is not used: it
only refuses.
"""


def programs() -> Path:
    """The folder with all of them, and with what they define. Raises UnavailableError."""
    packages = {name: controller.package for name, controller in CONTROLLERS.items()}
    sources = {
        f"{name}.{kind}": f"{controller.module}//{folder}"
        for name, controller in CONTROLLERS.items()
        for kind, folder in (("definitions", controller.definitions), ("webhooks", controller.webhooks))
        if folder
    }
    return built("controllers", HERE / "controllers", packages, sources=sources)


@contextmanager
def running(names: tuple[str, ...], kubeconfig: Path, folder: Path) -> Iterator[None]:
    """Controllers in separate processes, until the block ends; their logs are in the folder."""
    made, processes = programs(), dict[str, subprocess.Popen[bytes]]()
    authority = trustme.CA()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    kubectl(kubeconfig, "apply", "--filename", "-", given=yaml.safe_dump(namespace))
    if "training-operator" in names:
        kubectl(kubeconfig, "create", "secret", "generic", "training-operator-webhook-cert", "--namespace", NAMESPACE)
        nothing = {"metadata": {"name": "validator.training-operator.kubeflow.org"}, "webhooks": []}
        expected = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": _VALIDATING, **nothing}
        kubectl(kubeconfig, "create", "--filename", "-", given=yaml.safe_dump(expected))
        _MOUNTED.parent.mkdir(parents=True, exist_ok=True)
        _MOUNTED.touch()
    turn = _ONE_AT_A_TIME.open("w")
    fcntl.flock(turn, fcntl.LOCK_EX)
    try:
        for name in names:
            wanted = CONTROLLERS[name].only or "*.yaml"
            for file in filter(_defines, sorted((made / f"{name}.definitions").glob(wanted))):
                kubectl(kubeconfig, "apply", "--server-side", "--filename", str(file))
        kubectl(kubeconfig, "wait", "--for=condition=Established", "customresourcedefinition", "--all")
        for name in names:
            processes[name] = _started(made, name, kubeconfig, folder / name, authority)
        yield
        ended = [name for name, process in processes.items() if process.poll() is not None]
        assert not ended, f"{ended} did not run to the end; their logs are in {folder}"
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait(30)
        turn.close()


def kubectl(kubeconfig: Path, *words: str, given: str | None = None) -> str:
    """The output of kubectl; it must succeed."""
    done = subprocess.run(
        ["kubectl", "--kubeconfig", str(kubeconfig), *words], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _started(made: Path, name: str, kubeconfig: Path, folder: Path, authority: trustme.CA) -> "subprocess.Popen[bytes]":
    """A controller that answers the API server's calls, if it gets any.

    Its ports are not shared, so they are free until it takes them. If another program was faster, it starts again.
    """
    webhooks = made / f"{name}.webhooks" / "manifests.yaml"
    for attempt in range(_TRIES):
        with held_ports(("webhook", "health", "metrics")) as held:
            ports = dict(held)
        process = _start(made, name, kubeconfig, folder / str(attempt), authority, ports)
        if not webhooks.exists():
            return process
        if eventually(partial(_ended_or_answers, process, ports["webhook"], authority)) == "answers":
            hooks = _hooks(webhooks, name, authority, ports["webhook"])
            kubectl(kubeconfig, "apply", "--server-side", "--filename", "-", given=yaml.safe_dump_all(hooks))
            return process
        log = (folder / str(attempt) / "log").read_text()
        assert "address already in use" in log, log
    raise AssertionError(f"{name} found no port in {_TRIES} tries")


def _ended_or_answers(process: "subprocess.Popen[bytes]", port: int, authority: trustme.CA) -> str:
    """The one of the two that it has, empty while it has neither. A server that answers must have a certificate of
    ours.
    """
    if process.poll() is not None:
        return "ended"
    context = ssl.create_default_context()
    authority.configure_trust(context)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            context.wrap_socket(client, server_hostname="127.0.0.1").close()
    except OSError:
        return ""
    return "answers"


def _start(
    made: Path, name: str, kubeconfig: Path, folder: Path, authority: trustme.CA, ports: Mapping[str, int]
) -> "subprocess.Popen[bytes]":
    controller = CONTROLLERS[name]
    certificates = folder / "k8s-webhook-server/serving-certs"
    leaf = authority.issue_cert("127.0.0.1")
    for place in (certificates, folder / "etc" / controller.needs):
        place.mkdir(parents=True)
        leaf.private_key_pem.write_to_path(place / "tls.key")
        leaf.cert_chain_pems[0].write_to_path(place / "tls.crt")
    flags = [flag.format(kubeconfig=kubeconfig, **ports) for flag in controller.flags]
    if controller.configuration is not None:
        settings = {
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "webhook": {"port": ports["webhook"], "host": "127.0.0.1", **controller.webhook(certificates)},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{ports['health']}"},
            "metrics": {"bindAddress": f"127.0.0.1:{ports['metrics']}"},
            **controller.configuration,
        }
        (folder / "configuration.yaml").write_text(yaml.safe_dump(settings))
        flags += [f"--config={folder / 'configuration.yaml'}"]
    environment = os.environ | {"KUBECONFIG": str(kubeconfig), "TMPDIR": str(folder), "MY_POD_NAMESPACE": NAMESPACE}
    with (folder / "log").open("wb") as log:
        before = [*_WITH_ETC, str(folder / "etc")] if controller.needs else []
        return subprocess.Popen([*before, str(made / name), *flags], env=environment, stdout=log, stderr=log)


def _defines(file: Path) -> bool:
    return "kind: CustomResourceDefinition" in file.read_text()


def _hooks(file: Path, name: str, authority: trustme.CA, port: int) -> list[dict[str, Any]]:
    """Its webhooks, by the address at which they are reached here: no Service leads to a process of this computer."""
    bundle = b64encode(authority.cert_pem.bytes()).decode()
    documents = [document for document in yaml.safe_load_all(file.read_text()) if document]
    for document in documents:
        assert document["kind"] in {_MUTATING, _VALIDATING}
        document["metadata"]["name"] = f"{name}-{document['metadata']['name']}"
        for hook in document["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
    return documents
