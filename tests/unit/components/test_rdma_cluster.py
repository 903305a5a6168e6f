"""The composition: what is made, what goes with the cluster, and what comes out."""

from pathlib import Path
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, SettingsError, load

from declared.pulumi_mocks import Deploy, Refusal
from tests.unit.components.rdma_programs import (
    CLUSTER,
    IN_AZURE,
    JOB,
    POLICY,
    POOL,
    PROVIDER,
    RELEASE,
    RULE,
    configuration,
    program,
    stack_of,
)


def test_every_component_carries_the_projects_type_token(deploy: Deploy) -> None:
    types = {made.type for made in deploy(program()).registrations if not made.request.get("custom")}
    assert all(type_.startswith("aks-infiniband:index:") for type_ in types)
    assert types >= {
        f"aks-infiniband:index:{name}"
        for name in (
            "RdmaCluster",
            "AzureCluster",
            "AksCluster",
            "FeatureRegistration",
            "InfinibandNodePool",
            "RdmaSoftware",
            "NetworkOperator",
            "NicClusterPolicy",
            "GpuOperator",
            "WorkloadSettings",
            "Validation",
        )
    }


def test_every_resource_has_a_component_as_its_parent(deploy: Deploy) -> None:
    for made in deploy(program()).registrations:
        if made.type != "aks-infiniband:index:RdmaCluster":
            assert "::aks-infiniband:index:" in made.request["parent"].replace("$", "::"), made.urn


@pytest.mark.parametrize("operator", ["networkOperator", "gpuOperator"])
def test_a_pool_is_validated_again_when_helm_values_of_either_operator_change(deploy: Deploy, operator: str) -> None:
    def jobs(**more: Any) -> set[str]:
        return {job.inputs["metadata"]["name"] for job in deploy(program(**more)).all(JOB)}

    values = {"operator": {"resources": {"limits": {"memory": "1Gi"}}}}
    assert not jobs() & jobs(**{operator: {"valuesFile": None, "values": values}})


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


@pytest.mark.field_report("D10")
def test_all_that_lives_inside_the_cluster_goes_with_it(deploy: Deploy) -> None:
    deployment = deploy(program())
    cluster = deployment.one(CLUSTER)
    inside = [resource for resource in deployment.registrations if resource.type.startswith("kubernetes:")]
    assert len(inside) > 5
    for resource in [*inside, *deployment.all(POOL)]:
        assert resource.request.get("deletedWith") == cluster.urn, resource.urn


@pytest.mark.field_report("D7")
def test_the_provider_is_known_by_the_cluster_and_its_kubeconfig_is_secret(deploy: Deploy) -> None:
    provider = deploy(program()).one(PROVIDER)
    assert provider.is_secret("kubeconfig")
    assert provider.inputs["clusterIdentifier"].endswith("/rdma")
    assert provider.inputs["enableServerSideApply"] == "true"


def test_a_stack_without_nvidia_gpus_has_no_gpu_operator(deploy: Deploy) -> None:
    deployment = deploy(program(pools=(("hx", "Standard_HX176rs"),)))
    assert [release.name for release in deployment.all(RELEASE)] == ["rdma-network-operator"]


def test_the_outputs_say_for_each_pool_what_a_workload_needs(deploy: Deploy) -> None:
    def outputs() -> Any:
        cluster = RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack_of()))
        return {
            "name": cluster.cluster_name,
            "pool": cluster.pools["ndh100"],
            "template": cluster.pod_templates["ndh100"],
        }

    result = deploy(outputs).result
    assert result["name"] == "aks-infiniband-dev"
    pool = result["pool"]
    assert set(pool) == {"vmSize", "nodeCount", "mode", "rdmaResource", "validation"}
    assert (pool["vmSize"], pool["nodeCount"]) == ("Standard_ND96isr_H100_v5", 2)
    assert pool["rdmaResource"] == "rdma/shared_ib"
    assert result["template"]["nodeCount"] == 2
    (container,) = result["template"]["podTemplate"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
    assert set(pool["validation"]) == {"verdict", "coverage", "finished"}, "the report is in the state once already"


def test_both_operators_mistaken_values_are_told_at_once_before_anything_is_registered(deploy: Deploy) -> None:
    contrary = {"valuesFile": None, "values": {"nfd": {"enabled": False}}}
    with pytest.raises(SettingsError) as refused:
        deploy(program(networkOperator=contrary, gpuOperator={"valuesFile": "no-such-file.yaml"}))
    assert "nfd.enabled is False; it must be True" in str(refused.value)
    assert "'no-such-file.yaml', which cannot be read" in str(refused.value)


@pytest.mark.field_report("D8")
def test_a_preview_without_a_cluster_registers_the_same_resources(deploy: Deploy) -> None:
    real = [(resource.type, resource.name) for resource in deploy(program()).registrations]
    previewed = [(resource.type, resource.name) for resource in deploy(program(), preview=True).registrations]
    assert sorted(previewed) == sorted(real)


def test_a_stack_of_machines_without_infiniband_beside_them_makes_their_pool_and_nothing_else_for_them(
    deploy: Deploy,
) -> None:
    web = {"name": "web", "vmSize": "Standard_D8s_v5", "count": 1, "infiniband": False}
    pools = [{"name": "hx", "vmSize": "Standard_HX176rs", "count": 2}, web]

    def names(given: Any) -> set[str]:
        loaded = load(configuration(given))
        made = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=loaded)).cluster_name)
        return {f"{resource.type} {resource.name}" for resource in made.registrations}

    assert names(pools) - names(pools[:1]) == {
        "aks-infiniband:index:OrdinaryNodePool rdma-web",
        "azure-native:containerservice:AgentPool rdma-web",
    }


def test_modes_that_differ_between_pools_split_the_policy(deploy: Deploy) -> None:
    pools = [
        {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "mode": "sriov"},
        {"name": "hx", "vmSize": "Standard_HX176rs", "count": 2},
    ]
    loaded = load(configuration(pools))
    deployment = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=loaded)).cluster_name)
    policy = deployment.one(POLICY)
    nodes = deployment.all("kubernetes:mellanox.com/v1alpha1:NicNodePolicy")
    assert len(nodes) == 2
    for node_policy in nodes:
        assert policy.urn in node_policy.request["dependencies"]
        assert not set(node_policy.inputs["spec"]) & {"ofedDriver"}
    jobs = {job.name: set(job.request["dependencies"]) for job in deployment.all(JOB)}
    for node_policy in nodes:
        pool = node_policy.name.rpartition("-")[2]
        waiting = {name for name, dependencies in jobs.items() if node_policy.urn in dependencies}
        assert waiting == {f"rdma-{pool}-validate"}, "a pool waits for no policy of another's nodes"


def test_a_pool_beside_others_makes_eight_resources_and_all_pools_share_what_validates_them(deploy: Deploy) -> None:
    def made(*names: str) -> list[str]:
        pools = [(name, "Standard_ND96isr_H100_v5") for name in names]
        return [
            f"{resource.type.rpartition(':')[2]} {resource.name}"
            for resource in deploy(program(pools=pools)).registrations
        ]

    assert sorted(set(made("one", "two")) - set(made("one"))) == [
        "AgentPool rdma-two",
        "ConfigMap rdma-two-report",
        "ConfigMap rdma-workload-two",
        "ConfigMap rdma-workload-two-topology",
        "InfinibandNodePool rdma-two",
        "Job rdma-two-validate",
        "Stash rdma-two-evidence",
        "Validation rdma-two",
    ]


@pytest.mark.parametrize(("mode", "guarded"), [("rdma-shared", True), ("driver-only", False)])
def test_workloads_are_kept_from_the_machines_but_where_a_pools_mode_makes_them_privileged(
    deploy: Deploy, mode: str, guarded: bool
) -> None:
    pools = [{"name": "hx", "vmSize": "Standard_HX176rs", "count": 2, "mode": mode}]
    made = deploy(program(pools=pools)).all("aks-infiniband:index:WorkloadGuard")
    assert bool(made) is guarded


EXISTING_KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: admin@theirs
clusters: [{name: theirs, cluster: {server: "https://theirs.example.com:6443"}}]
contexts: [{name: admin@theirs, context: {cluster: theirs, user: admin}}]
users: [{name: admin, user: {token: t0ken}}]
"""


def test_an_existing_cluster_gets_no_azure_resource_and_is_cleared_piece_by_piece(
    deploy: Deploy, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text(EXISTING_KUBECONFIG)
    pool = {
        "name": "ndh100",
        "vmSize": "Standard_ND96isr_H100_v5",
        "count": 2,
        "nodeSelector": {"example.com/fabric": "a"},
    }
    given = configuration([pool], existingCluster={"kubeconfig": str(tmp_path / "config")})
    loaded = load({key: value for key, value in given.items() if key not in IN_AZURE})

    def stack() -> Any:
        return RdmaCluster("rdma", args=RdmaClusterArgs(stack=loaded)).cluster_name

    deployment = deploy(stack)
    assert deployment.result == "admin@theirs"
    assert not [resource for resource in deployment.registrations if resource.type.startswith("azure-native")]
    assert deployment.one(PROVIDER).is_secret("kubeconfig")
    assert not [resource for resource in deployment.registrations if resource.request.get("deletedWith")]
    for job in deployment.all(JOB):
        assert job.inputs["spec"]["template"]["spec"]["nodeSelector"] == {"example.com/fabric": "a"}


def test_an_autoscaled_pool_of_a_stack_begins_with_its_count(deploy: Deploy) -> None:
    bounds = {"minCount": 2, "maxCount": 4}
    pool = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 3, "autoscale": bounds}
    new = {"getAgentPool": Refusal('Status=404 Code="NotFound"')}
    assert deploy(program(pools=[pool]), answers=new).one(POOL).inputs["count"] == 3
