"""The one secret of a stack file, and that no other reaches state or logs."""

import json
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
from aks_infiniband import SettingsError
from aks_infiniband.stack.load import registry_credentials, stack_configuration

from declared.pulumi_mocks import Deploy
from tests.unit.components.stack_files import changed, mistakes

KEY = "aks-infiniband:registryCredentials"
LOGIN = json.dumps({"auths": {"mirror.example": {"auth": "dXNlcjpwYXNz"}}})


@pytest.fixture(autouse=True)
def configuration() -> Iterator[None]:
    yield
    pulumi.runtime.set_all_config({}, [])


def given(value: str, *, secret: bool = True) -> None:
    pulumi.runtime.set_all_config({"azure-native:location": "westeurope", KEY: value}, [KEY] if secret else [])


def test_a_secret_among_our_keys_is_refused_before_it_can_reach_the_state() -> None:
    secrets = {"aks-infiniband:gpuOperator": '{"values": {"key": "s3cret"}}', "azure-native:clientSecret": "fine"}
    pulumi.runtime.set_all_config({"azure-native:location": "southcentralus", **secrets}, list(secrets))
    with pytest.raises(SettingsError, match="aks-infiniband:gpuOperator holds a secret") as refused:
        stack_configuration()
    assert "s3cret" not in str(refused.value)
    assert len(refused.value.mistakes) == 1


def test_registry_credentials_are_the_one_secret_and_no_setting() -> None:
    given(LOGIN)
    assert stack_configuration() == {"azure-native:location": "westeurope"}


def test_registry_credentials_stay_secret(deploy: Deploy) -> None:
    async def seen() -> tuple[bool, Any]:
        credentials = registry_credentials()
        assert credentials is not None
        return await credentials.is_secret(), await credentials.future()

    def program() -> Any:
        given(LOGIN)
        return pulumi.Output.from_input(seen())

    assert deploy(program).result == (True, LOGIN)


def test_without_registry_credentials_there_are_none() -> None:
    pulumi.runtime.set_all_config({}, [])
    assert registry_credentials() is None


@pytest.mark.parametrize(
    "value",
    [
        "s3cret",
        '["s3cret"]',
        '{"s3cret": 1}',
        '{"auths": {}}',
        '{"auths": {"s3cret": {}}}',
        '{"auths": {"a": {"username": "s3cret"}}}',
    ],
)
def test_what_logs_in_nowhere_is_refused_without_telling_it(value: str) -> None:
    given(value)
    with pytest.raises(SettingsError, match="must be the JSON of a Docker config") as refused:
        registry_credentials()
    assert "s3cret" not in str(refused.value)


def test_registry_credentials_that_are_no_secret_are_refused() -> None:
    given(LOGIN, secret=False)
    with pytest.raises(SettingsError, match="must be a secret: set it with `pulumi config set --secret") as refused:
        registry_credentials()
    assert "dXNlcjpwYXNz" not in str(refused.value)
    found = mistakes({**changed(), **stack_configuration()})
    assert "pulumi config set --secret" in found["registryCredentials"]
