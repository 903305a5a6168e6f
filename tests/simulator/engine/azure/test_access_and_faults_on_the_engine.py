"""Entra ID, the autoscaler and Azure's bad moments, on the real engine."""

from typing import Any, Final

import grpc
import pytest
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Namespace

from rehearsal.azure.autoscaler import scale
from tests.simulator.engine.azure.conftest import Stack

CLIENT: Final = {
    "clientId": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
    "objectId": "77777777-8888-4999-8aaa-bbbbbbbbbbbb",
}


def namespaces(stack: Stack) -> set[str]:
    client = Client(config=KubeConfig.from_file(str(stack.run_folder.kubeconfig)), trust_env=False)
    return {str(namespace.metadata.name) for namespace in client.list(Namespace) if namespace.metadata}


def test_a_program_logs_in_with_kubelogin_but_not_as_a_person(stack: Stack) -> None:
    up = stack.run("up", count=1, login="azurecli")
    assert up.succeeded, up.errors
    assert "made-by-kubelogin" in namespaces(stack)

    refused = stack.run("up", count=1, login="devicecode", team="b")
    assert not refused.succeeded
    assert "exec: executable kubelogin failed with exit code 1" in refused.errors


class TestWithoutTheRole:
    @pytest.fixture
    def subscription(self) -> dict[str, Any]:
        return {"client": CLIENT}

    def test_whoever_may_not_administer_the_cluster_is_known_there_and_forbidden_to(self, stack: Stack) -> None:
        up = stack.run("up", count=1, login="azurecli")
        assert not up.succeeded
        assert 'User "entra:user" cannot' in up.errors
        assert "made-by-kubelogin" not in namespaces(stack)


def test_an_update_leaves_an_autoscaled_pool_its_count_or_is_refused(stack: Stack) -> None:
    assert stack.run("up", maxCount=3).succeeded
    assert scale(stack.run_folder, "ndh100", 3) == 3
    assert stack.pools() == ["ndh100"] * 3 + ["system"]

    again = stack.run("up", maxCount=3)
    assert (again.succeeded, again.operations) == (True, {}), again

    stale = stack.run("up", maxCount=3, team="b")
    assert not stale.succeeded
    assert "Cannot manually scale AgentPool 'ndh100'" in stale.errors
    assert stack.pools() == ["ndh100"] * 3 + ["system"]

    with pytest.raises(grpc.RpcError, match="bounds of agent pool ndh100 are 1 to 3: 4"):
        scale(stack.run_folder, "ndh100", 4)


class TestBadMoments:
    @pytest.fixture
    def subscription(self) -> dict[str, Any]:
        of_the_pool = {"name": "ndh100", "operations": ["create", "update"]}
        codes = ("EtagMismatch", "TooManyRequests", "AllocationFailed")
        return {"faults": [{"code": code, **of_the_pool} for code in codes]}

    def test_what_is_refused_leaves_nothing_and_what_fails_later_leaves_a_pool_that_is_repaired(
        self, stack: Stack
    ) -> None:
        refused = stack.run("up", count=1)
        assert 'Status=409 Code="EtagMismatch" Message="{\n "code": "EtagMismatch"' in refused.errors
        assert stack.holds().count("azure-native:containerservice:AgentPool") == 1, "the cluster's own system pool"

        failed = stack.run("up", count=1)  # throttled once, which azure-native itself takes care of
        assert 'Status=200 Code="AllocationFailed" Message="Provisioning of resource(s) for Agent Pool' in failed.errors
        assert stack.pools() == ["system"]

        repaired = stack.run("up", count=1)
        assert repaired.succeeded, repaired.errors
        assert repaired.operations == {"ndh100": ["update"]}
        assert stack.pools() == ["ndh100", "system"]
