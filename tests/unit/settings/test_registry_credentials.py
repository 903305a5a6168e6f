"""Credentials of the registry of images: what they must be, and for which host."""

import json
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
from aks_infiniband import SettingsError, load

from declared.pulumi_mocks import Deploy
from tests.unit.components.stack_files import GOOD


@pytest.fixture
def read_with_credentials(deploy: Deploy) -> Iterator[Any]:
    """Reads the stack's configuration as the program does, with credentials for hosts and a registry of images."""

    def read(hosts: Any, images: str | None, auth: str = "dTpw") -> bool:
        key = "aks-infiniband:registryCredentials"
        registry = {} if images is None else {"aks-infiniband:registry": json.dumps({"images": images})}
        text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in GOOD.items()}
        auths = json.dumps({"auths": {host: {"auth": auth} for host in hosts}})

        def program() -> bool:
            pulumi.runtime.set_all_config({**text, **registry, key: auths}, [key])
            return bool(load())

        return bool(deploy(program).result)

    yield read
    pulumi.runtime.set_all_config({}, [])


@pytest.mark.parametrize(
    ("hosts", "images"),
    [
        (["mirror.io"], "mirror.io/nvidia"),
        (["https://mirror.io/v1/", "other.io"], "mirror.io"),
        (["*.azurecr.io"], "mine.azurecr.io/x"),
        (["nvcr.io"], None),
    ],
)
def test_credentials_for_the_registrys_host_are_taken(
    read_with_credentials: Any, hosts: list[str], images: str | None
) -> None:
    assert read_with_credentials(hosts, images)


def test_credentials_for_another_host_than_the_registrys_are_refused(read_with_credentials: Any) -> None:
    with pytest.raises(SettingsError, match="must log in to the host of aks-infiniband:registry") as refused:
        read_with_credentials(["other.io"], "mirror.io/nvidia")
    assert "dTpw" not in str(refused.value)


@pytest.mark.parametrize("auth", ["dTp", "bm8tY29sb24=", "not base64", ""])
def test_credentials_that_are_no_user_and_password_in_base64_are_refused(read_with_credentials: Any, auth: str) -> None:
    with pytest.raises(SettingsError, match="must be the JSON of a Docker config"):
        read_with_credentials(["mirror.io"], "mirror.io/nvidia", auth)
