"""The credentials of a run, and their files in its folder. The credentials are made again each time and used in no
other place.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import os
import secrets
from pathlib import Path

import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rehearsal.run.folder import RunFolder

LOOPBACK = "127.0.0.1"
SERVICE_RANGE = "198.18.0.0/16"
"""Addresses of Services: from the block that is set aside for benchmarks (RFC 2544), so that no virtual network of a
stack claims them."""
CLUSTER_NAME = "rehearsal"
VALID_FOR = datetime.timedelta(days=30)
"""A rehearsal lives minutes; one that is kept for demonstrations lives days."""
ADMINISTRATORS = "system:masters"
KUBECONFIG_USERS: dict[str, tuple[str, str | None]] = {
    # file: (user, group). The built-in roles of the first two belong to those very user names.
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    "kwok": ("rehearsal:kwok", ADMINISTRATORS),
    "azure": ("rehearsal:azure", ADMINISTRATORS),
    "machines": ("rehearsal:machines", ADMINISTRATORS),
    "operators": ("rehearsal:operators", ADMINISTRATORS),
}


def write_credentials(run: RunFolder, *, api_server_port: int) -> None:
    """Makes the authorities, certificates, keys and kubeconfigs of a run.

    Two authorities: the cluster's, which the API server trusts for its clients, and etcd's own, so that no client of
    the cluster can reach etcd past the API server.
    """
    authority = trustme.CA()
    _write_private(run.pki / "ca.crt", authority.cert_pem)
    service = str(ipaddress.ip_network(SERVICE_RANGE)[1])
    of_service = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
    _write(run, "kube-apiserver", issue(authority, "kube-apiserver", *of_service, service))
    for part in ("kube-controller-manager", "kube-scheduler", "machines"):
        _write(run, part, issue(authority, part))
    # with which the API server reads container logs from the machines
    _write(run, "kubelet-client", issue(authority, "kube-apiserver-kubelet-client"))
    _write_etcd_credentials(run)
    _write_service_account_key(run)
    _write_tokens(run)
    server = f"https://{LOOPBACK}:{api_server_port}"
    admin = issue(authority, "rehearsal:admin", group=ADMINISTRATORS)
    _write(run, "admin", admin)
    _write_private(run.kubeconfig, _kubeconfig(server, "rehearsal:admin", authority, admin))
    for part, (user, group) in KUBECONFIG_USERS.items():
        credential = issue(authority, user, group=group)
        _write_private(run.part_kubeconfig(part), _kubeconfig(server, user, authority, credential))


def issue(authority: trustme.CA, common_name: str, *names: str, group: str | None = None) -> trustme.LeafCert:
    """A certificate and its key, for a client and for a server on this machine's loopback.

    Kubernetes takes the common name of a client's certificate for its user, and the organization for its group.
    names: further names and addresses under which a server is reached.
    """
    until = datetime.datetime.now(datetime.UTC) + VALID_FOR
    return authority.issue_cert(
        "localhost", LOOPBACK, *names, common_name=common_name, organization_name=group, not_after=until
    )


def _write_etcd_credentials(run: RunFolder) -> None:
    authority = trustme.CA()
    _write_private(run.pki / "etcd-ca.crt", authority.cert_pem)
    _write(run, "etcd", issue(authority, "etcd"))
    _write(run, "etcd-client", issue(authority, "kube-apiserver-etcd-client"))


def _write_service_account_key(run: RunFolder) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    _write_private(run.pki / "service-account.key", private)
    _write_private(run.pki / "service-account.pub", public)


def _write_tokens(run: RunFolder) -> None:
    """Tokens as a directory such as Entra ID gives them to people: token, user, ID, groups."""
    rows = [
        f"{secrets.token_urlsafe()},{user},{user}{group}\n"
        for user, group in (("entra:administrator", f',"{ADMINISTRATORS}"'), ("entra:user", ""))
    ]
    _write_private(run.pki / "tokens.csv", "".join(rows).encode("utf-8"))


def _write(run: RunFolder, name: str, credential: trustme.LeafCert) -> None:
    """Writes NAME.crt and NAME.key."""
    (certificate,) = credential.cert_chain_pems
    _write_private(run.pki / f"{name}.crt", certificate)
    _write_private(run.pki / f"{name}.key", credential.private_key_pem)


def _write_private(path: Path, content: bytes | trustme.Blob) -> None:
    """Writes a file that its owner alone may read, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.bytes())


def _kubeconfig(server: str, user: str, authority: trustme.CA, credential: trustme.LeafCert) -> bytes:
    """A kubeconfig that holds all it needs: no further file, no login, no insecure skip."""
    (certificate,) = credential.cert_chain_pems
    cluster = {"server": server, "certificate-authority-data": _base64(authority.cert_pem)}
    key = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(credential.private_key_pem)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CLUSTER_NAME, "cluster": cluster}],
        "users": [{"name": user, "user": key}],
        "contexts": [{"name": CLUSTER_NAME, "context": {"cluster": CLUSTER_NAME, "user": user}}],
        "current-context": CLUSTER_NAME,
    }
    return yaml.safe_dump(document, sort_keys=False).encode("utf-8")


def _base64(content: trustme.Blob) -> str:
    return base64.b64encode(content.bytes()).decode("ascii")
