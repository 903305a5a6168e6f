"""The table of everything that runs in a rehearsal: how each part is started and how it shows that it serves."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal.control_plane.credentials import LOOPBACK, SERVICE_RANGE
from rehearsal.run.folder import RunFolder
from rehearsal.tools.paths import tool

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
SIMULATORS = ("azure", "machines", "operators")
"""The parts in Python: each is the module of its name in this package, started with --run and --speed."""
ALL_PARTS = (*CONTROL_PLANE, "kwok", *SIMULATORS)

PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

TIME_LIMIT_S = 180.0
"""The parts are ready after one to three seconds; a machine that is busy with other work gets its time."""
NODE_GRACE_PERIOD = "5m"
"""Time for which a node may be silent before it is treated as lost. kwok renews each lease within 40 s, but on two busy
cores it may be late, and a lost node would evict the very pods that a rehearsal waits for.
"""


class UnknownPartError(Exception):
    """A selection of parts that cannot run."""


@dataclass(frozen=True, kw_only=True)
class ServesHttps:
    """Ready when a GET of the path answers 200, over TLS, with the server's certificate verified."""

    port: int
    path: str
    authority: Path
    client: Path | None = None
    """The path of a client certificate, without its suffix (NAME.crt, NAME.key)."""

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self.port}{self.path}"


@dataclass(frozen=True, kw_only=True)
class WritesFile:
    """Ready when the part has written the file."""

    path: Path


@dataclass(frozen=True, kw_only=True)
class Runs:
    """A part without an address: it is ready when its process runs. If it fails later, that ends the rehearsal all the
    same.
    """


@dataclass(frozen=True, kw_only=True)
class Part:
    """One process of a rehearsal."""

    name: str
    argv: tuple[str, ...]
    ready: ServesHttps | WritesFile | Runs
    after: tuple[str, ...] = ()
    """The parts that must be ready before this one starts."""
    time_limit_s: float = TIME_LIMIT_S
    grace_s: float = 2.0
    """Seconds that it may take to end after SIGTERM, before it is killed. A rehearsal's state is not worth a longer
    wait.
    """


def select(names: Sequence[str]) -> tuple[str, ...]:
    """The parts of those names, in the order of the table.

    Raises UnknownPartError for a name that is not in the table, or a selection without the whole control plane.
    """
    unknown = sorted(set(names) - set(ALL_PARTS))
    if unknown:
        raise UnknownPartError(f"no such part: {', '.join(unknown)}; there are {', '.join(ALL_PARTS)}")
    missing = [name for name in CONTROL_PLANE if name not in names]
    if missing:
        raise UnknownPartError(f"a rehearsal needs the whole control plane; not selected: {', '.join(missing)}")
    return tuple(name for name in ALL_PARTS if name in names)


def table(run: RunFolder, *, ports: Mapping[str, int], speed: float, names: Sequence[str]) -> tuple[Part, ...]:
    """The parts to run. Raises UnknownPartError, or ToolMissingError for a program that is not built."""
    parts = {
        "etcd": _etcd,
        "kube-apiserver": _api_server,
        "kube-controller-manager": _controller_manager,
        "kube-scheduler": _scheduler,
        "kwok": _kwok,
    }
    return tuple(
        _simulator(run, name, speed) if name in SIMULATORS else parts[name](run, ports) for name in select(names)
    )


def _etcd(run: RunFolder, ports: Mapping[str, int]) -> Part:
    client = f"https://{LOOPBACK}:{ports['etcd']}"
    peer = f"https://{LOOPBACK}:{ports['etcd-peer']}"
    authority = run.pki / "etcd-ca.crt"
    return Part(
        name="etcd",
        argv=(
            str(tool("etcd")),
            f"--data-dir={run.etcd}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--socket-reuse-port",
            "--client-cert-auth",
            f"--trusted-ca-file={authority}",
            f"--cert-file={run.pki / 'etcd.crt'}",
            f"--key-file={run.pki / 'etcd.key'}",
            "--peer-client-cert-auth",
            f"--peer-trusted-ca-file={authority}",
            f"--peer-cert-file={run.pki / 'etcd.crt'}",
            f"--peer-key-file={run.pki / 'etcd.key'}",
            "--unsafe-no-fsync",  # the data does not outlive the run, so a slow disk need not slow it down
            "--log-level=warn",
        ),
        ready=ServesHttps(port=ports["etcd"], path="/health", authority=authority, client=run.pki / "etcd-client"),
    )


def _api_server(run: RunFolder, ports: Mapping[str, int]) -> Part:
    pki = run.pki
    return Part(
        name="kube-apiserver",
        argv=(
            str(tool("kube-apiserver")),
            f"--bind-address={LOOPBACK}",
            # else it looks for the default route's interface, and ends if there is none
            f"--advertise-address={LOOPBACK}",
            f"--secure-port={ports['kube-apiserver']}",
            "--permit-port-sharing",
            f"--etcd-servers=https://{LOOPBACK}:{ports['etcd']}",
            f"--etcd-cafile={pki / 'etcd-ca.crt'}",
            f"--etcd-certfile={pki / 'etcd-client.crt'}",
            f"--etcd-keyfile={pki / 'etcd-client.key'}",
            f"--tls-cert-file={pki / 'kube-apiserver.crt'}",
            f"--tls-private-key-file={pki / 'kube-apiserver.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            f"--kubelet-certificate-authority={pki / 'ca.crt'}",
            f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'kubelet-client.key'}",
            # the one type of address that lies on loopback; a node's own address is nowhere to be dialled
            "--kubelet-preferred-address-types=InternalDNS",
            "--anonymous-auth=false",
            f"--token-auth-file={pki / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki / 'service-account.pub'}",
            f"--service-account-signing-key-file={pki / 'service-account.key'}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            # a loopback address may not be published as an endpoint, and no program looks for the API server that way
            "--endpoint-reconciler-type=none",
            "--allow-privileged=true",  # driver and device plugin pods are privileged
            "--enable-priority-and-fairness=false",  # a second instance does not compete for the cluster
            "--profiling=false",
        ),
        ready=ServesHttps(port=ports["kube-apiserver"], path="/readyz", authority=pki / "ca.crt", client=pki / "admin"),
    )


def _controller_manager(run: RunFolder, ports: Mapping[str, int]) -> Part:
    pki = run.pki
    return Part(
        name="kube-controller-manager",
        argv=(
            *_component(run, "kube-controller-manager", ports),
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={pki / 'service-account.key'}",
            f"--root-ca-file={pki / 'ca.crt'}",
            f"--node-monitor-grace-period={NODE_GRACE_PERIOD}",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ),
        after=("kube-apiserver",),
        ready=ServesHttps(port=ports["kube-controller-manager"], path="/healthz", authority=pki / "ca.crt"),
    )


def _scheduler(run: RunFolder, ports: Mapping[str, int]) -> Part:
    return Part(
        name="kube-scheduler",
        argv=_component(run, "kube-scheduler", ports),
        after=("kube-apiserver",),
        ready=ServesHttps(port=ports["kube-scheduler"], path="/healthz", authority=run.pki / "ca.crt"),
    )


def _component(run: RunFolder, name: str, ports: Mapping[str, int]) -> tuple[str, ...]:
    """The common arguments of the controller manager and the scheduler."""
    kubeconfig = run.part_kubeconfig(name)
    return (
        str(tool(name)),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports[name]}",
        "--permit-port-sharing",
        f"--tls-cert-file={run.pki / name}.crt",
        f"--tls-private-key-file={run.pki / name}.key",
        "--leader-elect=false",
        "--profiling=false",
    )


def _kwok(run: RunFolder, _ports: Mapping[str, int]) -> Part:
    return Part(
        name="kwok",
        argv=(
            str(tool("kwok")),
            f"--config={run.kwok_config}",
            f"--kubeconfig={run.part_kubeconfig('kwok')}",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40",
            # without an address to serve on: it gives its metrics and profiles to every client
        ),
        after=("kube-apiserver",),
        ready=Runs(),
    )


def _simulator(run: RunFolder, name: str, speed: float) -> Part:
    return Part(
        name=name,
        argv=(sys.executable, "-m", f"rehearsal.{name}", "--run", str(run.root), "--speed", str(speed)),
        ready=WritesFile(path=run.ready_file(name)),
        # Python loads while the API server starts; then the machines and the operators wait for it (`await_ready`).
        time_limit_s=2 * TIME_LIMIT_S,
        grace_s=5.0,  # simulated machines end the programs of their pods
    )
