"""The composition: what is made, what goes with the cluster, and what comes out."""

from typing import Any

import pulumi
import pytest
from aks_infiniband import SettingsError

from declared.pulumi_mocks import Deploy, Refusal
from tests.unit.components.rdma_programs import (
    POLICY,
    POOL,
    RULE,
    program,
)


@pytest.mark.field_report("B7", "D5")
def test_no_change_of_settings_gives_policy_or_feature_rule_another_identity(deploy: Deploy) -> None:
    """Kubernetes' provider replaces an object for another kind, group, name or namespace, and for nothing else."""

    def identities(**more: Any) -> Any:
        found = [custom for custom in deploy(program(**more)).registrations if custom.type in (POLICY, RULE)]
        for custom in found:
            assert not custom.request.get("replaceOnChanges")
            assert not custom.request.get("deleteBeforeReplace")
        return sorted((custom.urn, custom.inputs["apiVersion"], custom.inputs["metadata"]["name"]) for custom in found)

    first = identities()
    assert len(first) == 2
    assert first == identities(
        pools=(("hx", "Standard_HX176rs"), ("hb", "Standard_HB120rs_v3")),
        cluster={"kubernetesVersion": "1.35", "name": "another"},
        networkOperator={"valuesFile": None, "chart": {"version": "26.7.0"}, "values": {"operator": {"resources": {}}}},
        readiness={"timeoutSeconds": 99},
        validation={"mode": "off"},
    )


def test_a_cluster_name_that_azure_refuses_is_found_even_where_it_is_made_of_project_and_stack(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "feature.x")
    with pytest.raises(SettingsError, match=r"cluster.name is 'aks-infiniband-feature.x' if nothing else is given"):
        deploy(program())


@pytest.mark.field_report("D8")
def test_a_preview_without_a_cluster_registers_the_same_resources(deploy: Deploy) -> None:
    real = [(resource.type, resource.name) for resource in deploy(program()).registrations]
    previewed = [(resource.type, resource.name) for resource in deploy(program(), preview=True).registrations]
    assert sorted(previewed) == sorted(real)


def test_an_autoscaled_pool_of_a_stack_begins_with_its_count(deploy: Deploy) -> None:
    bounds = {"minCount": 2, "maxCount": 4}
    pool = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 3, "autoscale": bounds}
    new = {"getAgentPool": Refusal('Status=404 Code="NotFound"')}
    assert deploy(program(pools=[pool]), answers=new).one(POOL).inputs["count"] == 3
