"""A kubeconfig that others made: one context of it, or an error that says what to do."""

import base64
import copy
from pathlib import Path
from typing import Any

import pulumi
import pytest
import trustme
import yaml
from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import read_kubeconfig

from tests.unit.components.cases.azure import KUBECONFIG, KUBELOGIN

CA = trustme.CA().cert_pem.bytes()


def config(**more: Any) -> dict[str, Any]:
    return copy.deepcopy({**KUBECONFIG, **more})


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(document: Any) -> Path:
        path = tmp_path / "kubeconfig"
        path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
        return path

    return write


def test_a_named_context_is_taken_instead_of_the_current_one(write: Any, tmp_path: Path, monkeypatch: Any) -> None:
    plugin = tmp_path / "kubelogin"
    plugin.write_text("#!/bin/sh\n")
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = read_kubeconfig(str(write(config())), context="other")
    (user,) = yaml.safe_load(found.kubeconfig)["users"]
    assert found.server == "https://other"
    assert user["user"]["exec"]["command"] == "kubelogin"


@pytest.mark.field_report("D7")
def test_new_credentials_and_another_context_name_do_not_make_another_cluster(write: Any) -> None:
    first = read_kubeconfig(str(write(config()))).cluster_identifier
    renewed = config(users=[{"name": "admin", "user": {"token": "another"}}])
    renewed["contexts"][0]["name"] = renewed["current-context"] = "renamed"
    assert read_kubeconfig(str(write(renewed))).cluster_identifier == first
    assert read_kubeconfig(str(write(config())), context="capi").cluster_identifier == first


def test_a_relative_path_starts_at_the_project_and_a_tilde_at_home(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(config())
    assert read_kubeconfig("kubeconfig", folder=tmp_path).context == "capi"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_kubeconfig("~/kubeconfig", folder=tmp_path / "elsewhere").context == "capi"


def test_files_beside_the_kubeconfig_come_along_and_a_token_file_stays_one(write: Any, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(CA)
    (tmp_path / "key.pem").write_bytes(b"KEY")
    (tmp_path / "token").write_text("t0ken")
    document = config(
        clusters=[{"name": "capi", "cluster": {"server": "https://capi", "certificate-authority": "ca.crt"}}],
        users=[{"name": "admin", "user": {"client-key": str(tmp_path / "key.pem"), "tokenFile": "token"}}],
    )
    made = yaml.safe_load(read_kubeconfig(str(write(document))).kubeconfig)
    assert made["clusters"][0]["cluster"] == {
        "server": "https://capi",
        "certificate-authority-data": base64.b64encode(CA).decode(),
    }
    assert made["users"][0]["user"] == {
        "client-key-data": base64.b64encode(b"KEY").decode(),
        "tokenFile": str(tmp_path / "token"),
    }


def test_a_kubeconfig_that_is_not_there_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match=f"{tmp_path}/none cannot be read: No such file"):
        read_kubeconfig("none", folder=tmp_path)


def test_a_login_method_from_the_environment_section_counts(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    plugin = {**KUBELOGIN, "args": ["get-token"], "env": [{"name": "AAD_LOGIN_METHOD", "value": "msi"}]}
    path = write(config(users=[{"name": "admin", "user": {"exec": plugin}}]))
    assert read_kubeconfig(str(path)).context == "capi"


def test_a_plugin_that_is_missing_stops_an_update_and_not_a_preview(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = str(write(config()))
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(KubeconfigError, match="in with kubelogin, which is not on the PATH"):
        read_kubeconfig(path, context="other")
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    assert read_kubeconfig(path, context="other").context == "other"


def test_a_plugin_beside_the_kubeconfig_is_found_from_anywhere(write: Any, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.write_text("#!/bin/sh\n")
    plugin.chmod(0o755)
    path = write(config(users=[{"name": "admin", "user": {"exec": {**KUBELOGIN, "command": "./plugin"}}}]))
    (user,) = yaml.safe_load(read_kubeconfig(str(path)).kubeconfig)["users"]
    assert Path(user["user"]["exec"]["command"]).samefile(plugin)
