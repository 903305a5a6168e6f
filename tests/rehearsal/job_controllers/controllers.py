"""The real controllers of jobs, built of their own modules, with their own definitions and webhooks.

Nothing of theirs is kept in this project: the Go module proxy has it, and it is built once a machine.
"""

import os
import socket
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import trustme
import yaml

from rehearsal.control_plane.ports import held_ports
from rehearsal.tools.on_demand import built
from tests.rehearsal.waiting import eventually

HERE: Final = Path(__file__).parent
NAMESPACE: Final = "controllers"
_MUTATING, _VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"


@dataclass(frozen=True, kw_only=True)
class Controller:
    """One of them. definitions, webhooks: folders of its module. configuration: what its own file has."""

    package: str
    module: str
    definitions: str
    only: str = ""
    """The one definition of these that is wanted: others' controllers have some of the same names."""
    webhooks: str = ""
    configuration: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()
    names_certificates: bool = False
    """Whether its file says where its certificates are; else they are where controller-runtime looks, below TMPDIR."""

    def webhook(self, certificates: Path) -> dict[str, str]:
        """What its file says of its webhook beside the address."""
        return {"certDir": str(certificates)} if self.names_certificates else {}


_WITHOUT_CERTIFICATES: Final = {"internalCertManagement": {"enable": False}}
CONTROLLERS: Final = {
    "jobset": Controller(
        module="sigs.k8s.io/jobset",
        package="sigs.k8s.io/jobset",
        definitions="config/components/crd/bases",
        webhooks="config/components/webhook",
        configuration={"apiVersion": "config.jobset.x-k8s.io/v1alpha1", **_WITHOUT_CERTIFICATES},
    ),
    "lws": Controller(
        module="sigs.k8s.io/lws",
        package="sigs.k8s.io/lws/cmd",
        definitions="config/crd/bases",
        webhooks="config/webhook",
        configuration={"apiVersion": "config.lws.x-k8s.io/v1alpha1", **_WITHOUT_CERTIFICATES},
        names_certificates=True,
    ),
    "trainer": Controller(
        module="github.com/kubeflow/trainer/v2",
        package="github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        definitions="manifests/base/crds",
        webhooks="manifests/base/webhook",
        configuration={"apiVersion": "config.trainer.kubeflow.org/v1alpha1", "certManagement": {"enable": False}},
    ),
    "mpi-operator": Controller(
        module="github.com/kubeflow/mpi-operator",
        package="github.com/kubeflow/mpi-operator/cmd/mpi-operator",
        definitions="manifests/base",
        flags=("-kubeConfig={kubeconfig}", f"-lock-namespace={NAMESPACE}"),
    ),
    "training-operator": Controller(
        module="github.com/kubeflow/training-operator",
        package="github.com/kubeflow/training-operator/cmd/training-operator.v1",
        definitions="manifests/base/crds",
        only="kubeflow.org_pytorchjobs.yaml",
        flags=(
            "-enable-scheme=pytorchjob",
            "-webhook-server-port={webhook}",
            "-health-probe-bind-address=127.0.0.1:{health}",
            "-metrics-bind-address=127.0.0.1:{metrics}",
        ),
    ),
}
_MOUNTED: Final = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")
"""What training-operator waits for, beside its Secret, before it starts. Its webhook is not used: it only refuses."""


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
    """Controllers in processes of their own, until the block ends; their logs are in the folder."""
    made, processes = programs(), list[subprocess.Popen[bytes]]()
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
    try:
        with held_ports(f"{name}.{use}" for name in names for use in ("webhook", "health", "metrics")) as ports:
            chosen = dict(ports)  # the controllers do not share ports: they are free again when this block ends
        for name in names:
            wanted = CONTROLLERS[name].only or "*.yaml"
            for file in filter(_defines, sorted((made / f"{name}.definitions").glob(wanted))):
                kubectl(kubeconfig, "apply", "--server-side", "--filename", str(file))
        kubectl(kubeconfig, "wait", "--for=condition=Established", "customresourcedefinition", "--all")
        for name in names:
            processes.append(_start(made, name, kubeconfig, folder / name, authority, chosen))
            if (made / f"{name}.webhooks").is_dir():
                _await(chosen[f"{name}.webhook"], processes[-1], folder / name / "log")
                hooks = _hooks(made / f"{name}.webhooks" / "manifests.yaml", name, authority, chosen[f"{name}.webhook"])
                kubectl(kubeconfig, "apply", "--server-side", "--filename", "-", given=yaml.safe_dump_all(hooks))
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


def kubectl(kubeconfig: Path, *words: str, given: str | None = None) -> str:
    """What kubectl prints; it must succeed."""
    done = subprocess.run(
        ["kubectl", "--kubeconfig", str(kubeconfig), *words], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _start(
    made: Path, name: str, kubeconfig: Path, folder: Path, authority: trustme.CA, ports: Mapping[str, int]
) -> "subprocess.Popen[bytes]":
    controller = CONTROLLERS[name]
    certificates = folder / "k8s-webhook-server/serving-certs"
    leaf = authority.issue_cert("127.0.0.1")
    certificates.mkdir(parents=True)
    leaf.private_key_pem.write_to_path(certificates / "tls.key")
    leaf.cert_chain_pems[0].write_to_path(certificates / "tls.crt")
    its_ports = {use: ports[f"{name}.{use}"] for use in ("webhook", "health", "metrics")}
    flags = [flag.format(kubeconfig=kubeconfig, **its_ports) for flag in controller.flags]
    if controller.configuration is not None:
        settings = {
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "webhook": {"port": its_ports["webhook"], "host": "127.0.0.1", **controller.webhook(certificates)},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{its_ports['health']}"},
            "metrics": {"bindAddress": f"127.0.0.1:{its_ports['metrics']}"},
            **controller.configuration,
        }
        (folder / "configuration.yaml").write_text(yaml.safe_dump(settings))
        flags += [f"--config={folder / 'configuration.yaml'}"]
    environment = os.environ | {"KUBECONFIG": str(kubeconfig), "TMPDIR": str(folder), "MY_POD_NAMESPACE": NAMESPACE}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen([made / name, *flags], env=environment, stdout=log, stderr=log)


def _await(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until a controller listens for the API server's questions."""

    def listens() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    eventually(listens, seconds=60)


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
