"""The credentials of a run: who may do what with them, and who can read them."""

import ipaddress
import stat
from pathlib import Path

import pytest
import trustme
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from rehearsal.control_plane import RunFolder
from rehearsal.control_plane.credentials import SERVICE_RANGE, issue, write_credentials


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = RunFolder.at(tmp_path_factory.mktemp("runs") / "dev")
    run.prepare()
    write_credentials(run, api_server_port=6443)
    return run


def _certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _names(certificate: x509.Certificate) -> x509.SubjectAlternativeName:
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value


def test_every_file_with_a_key_is_readable_by_its_owner_alone(run: RunFolder) -> None:
    files = [*run.pki.iterdir(), run.kubeconfig]
    assert len(files) > 20
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {
        path.name: "0o600" for path in files
    }


def test_the_api_servers_certificate_is_for_loopback_and_the_kubernetes_service(run: RunFolder) -> None:
    certificate = _certificate(run.pki / "kube-apiserver.crt")
    names = _names(certificate)
    assert set(names.get_values_for_type(x509.IPAddress)) == {
        ipaddress.ip_address("127.0.0.1"),
        ipaddress.ip_network(SERVICE_RANGE)[1],
    }
    assert {"localhost", "kubernetes.default.svc"} <= set(names.get_values_for_type(x509.DNSName))


def test_certificates_of_the_cluster_and_of_etcd_come_from_different_authorities(run: RunFolder) -> None:
    cluster, etcd = _certificate(run.pki / "ca.crt"), _certificate(run.pki / "etcd-ca.crt")
    _certificate(run.pki / "admin.crt").verify_directly_issued_by(cluster)
    _certificate(run.pki / "etcd-client.crt").verify_directly_issued_by(etcd)
    with pytest.raises(ValueError, match=r"(?i)issuer"):
        _certificate(run.pki / "admin.crt").verify_directly_issued_by(etcd)


def test_kubeconfigs_verify_the_server_and_hold_all_they_need(run: RunFolder) -> None:
    for path in [run.kubeconfig, *run.pki.glob("*.kubeconfig")]:
        document = yaml.safe_load(path.read_text())
        (cluster,) = document["clusters"]
        assert set(cluster["cluster"]) == {"server", "certificate-authority-data"}, path
        assert cluster["cluster"]["server"] == "https://127.0.0.1:6443"
        (user,) = document["users"]
        assert set(user["user"]) == {"client-certificate-data", "client-key-data"}, path


def test_the_scheduler_and_the_controller_manager_are_the_users_that_kubernetes_has_roles_for(run: RunFolder) -> None:
    for part in ("kube-scheduler", "kube-controller-manager"):
        document = yaml.safe_load(run.part_kubeconfig(part).read_text())
        assert document["users"][0]["name"] == f"system:{part}"


def test_a_client_certificate_names_the_user_and_its_group() -> None:
    certificate = x509.load_pem_x509_certificate(
        issue(trustme.CA(), "somebody", group="some").cert_chain_pems[0].bytes()
    )
    assert [name.value for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["somebody"]
    assert [name.value for name in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["some"]
