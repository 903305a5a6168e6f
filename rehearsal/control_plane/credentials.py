"""Which credentials a run has, and where they lie in its folder."""

from __future__ import annotations

import ipaddress
import secrets

from cryptography.hazmat.primitives.asymmetric import ec

from rehearsal.control_plane.pki import (
    Authority,
    Credential,
    kubeconfig,
    private_pem,
    public_pem,
    write_private,
)
from rehearsal.run.folder import RunFolder

LOOPBACK = "127.0.0.1"
SERVICE_RANGE = "198.18.0.0/16"
"""Addresses of Services: from the block that is set aside for benchmarks (RFC 2544), so that no virtual network of a
stack claims them."""
CLUSTER_NAME = "rehearsal"
ADMINISTRATORS = "system:masters"
KUBECONFIG_USERS: dict[str, tuple[str, tuple[str, ...]]] = {
    # file: (user, groups). The built-in roles of the first two belong to those very user names.
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
    "kwok": ("rehearsal:kwok", (ADMINISTRATORS,)),
    "azure": ("rehearsal:azure", (ADMINISTRATORS,)),
    "machines": ("rehearsal:machines", (ADMINISTRATORS,)),
    "operators": ("rehearsal:operators", (ADMINISTRATORS,)),
}


def write_credentials(run: RunFolder, *, api_server_port: int) -> None:
    """Makes the authorities, certificates, keys and kubeconfigs of a run.

    Two authorities: the cluster's, which the API server trusts for its clients, and etcd's own, so that no client of
    the cluster can reach etcd past the API server.
    """
    authority = Authority.new("rehearsal-ca")
    write_private(run.pki / "ca.crt", authority.pem)
    service_address = str(ipaddress.ip_network(SERVICE_RANGE)[1])
    authority.issue(
        "kube-apiserver",
        dns_names=("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                   "kubernetes.default.svc.cluster.local"),
        addresses=(LOOPBACK, service_address),
        server=True,
    ).write(run.pki, "kube-apiserver")  # fmt: skip
    for part in ("kube-controller-manager", "kube-scheduler", "machines"):
        authority.issue(part, dns_names=("localhost",), addresses=(LOOPBACK,), server=True).write(run.pki, part)
    # with which the API server reads container logs from the machines
    authority.issue("kube-apiserver-kubelet-client", client=True).write(run.pki, "kubelet-client")
    _write_etcd_credentials(run)
    _write_service_account_key(run)
    _write_tokens(run)
    server = f"https://{LOOPBACK}:{api_server_port}"

    def write_kubeconfig(path: str, user: str, credential: Credential) -> None:
        text = kubeconfig(server=server, cluster=CLUSTER_NAME, user=user, authority=authority, credential=credential)
        write_private(run.root / path, text.encode("utf-8"))

    admin = authority.issue("rehearsal:admin", organizations=(ADMINISTRATORS,), client=True)
    admin.write(run.pki, "admin")
    write_kubeconfig("kubeconfig", "rehearsal:admin", admin)
    for part, (user, groups) in KUBECONFIG_USERS.items():
        credential = authority.issue(user, organizations=groups, client=True)
        write_kubeconfig(str(run.part_kubeconfig(part).relative_to(run.root)), user, credential)


def _write_etcd_credentials(run: RunFolder) -> None:
    authority = Authority.new("rehearsal-etcd-ca")
    write_private(run.pki / "etcd-ca.crt", authority.pem)
    # etcd dials itself with its serving certificate, so that one is a client's as well
    server = authority.issue("etcd", dns_names=("localhost",), addresses=(LOOPBACK,), server=True, client=True)
    server.write(run.pki, "etcd")
    authority.issue("kube-apiserver-etcd-client", client=True).write(run.pki, "etcd-client")


def _write_service_account_key(run: RunFolder) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(run.pki / "service-account.key", private_pem(key))
    write_private(run.pki / "service-account.pub", public_pem(key))


def _write_tokens(run: RunFolder) -> None:
    """Tokens as a directory such as Entra ID gives them to people: token, user, ID, groups."""
    rows = [
        f"{secrets.token_urlsafe()},{user},{user}{group}\n"
        for user, group in (("entra:administrator", f',"{ADMINISTRATORS}"'), ("entra:user", ""))
    ]
    write_private(run.pki / "tokens.csv", "".join(rows).encode("utf-8"))
