"""Cluster, pools and feature registration: what Azure is asked for, and what is waited for."""

import base64
import json
from typing import Any

import pulumi
import pytest
from aks_infiniband import (
    AksCluster,
    AksClusterArgs,
    FeatureRegistration,
    FeatureRegistrationArgs,
    InfinibandNodePool,
    InfinibandNodePoolArgs,
)
from aks_infiniband.aks import KubeconfigError, decode_kubeconfig
from aks_infiniband.catalog import SIZES
from aks_infiniband.feature_registration import FeatureRegistrationError
from aks_infiniband.node_pool import NodePoolError
from aks_infiniband.settings import Readiness, SystemPoolSettings

from tests.unit.pulumi_mocks import Deploy

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
FEATURE = "azure-native:resources:DeploymentAtSubscriptionScope"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"


def cluster(name: Any = "rdma", **more: Any) -> Any:
    args = AksClusterArgs(
        location="southcentralus",
        kubernetes_version="1.34",
        cluster_name="aks-infiniband-dev",
        resource_group_name="aks-infiniband-dev",
        **more,
    )
    return AksCluster(name, args=args)


def node_pool(name: Any = "ndh100", size: Any = "Standard_ND96isr_H100_v5", **more: Any) -> Any:
    args = InfinibandNodePoolArgs(
        pool_name=name,
        resource_group_name="group",
        cluster_name="cluster",
        size=SIZES[size],
        count=2,
        subnet_id="subnet",
        **more,
    )
    return InfinibandNodePool(name, args=args)


def registration(poll: Any = 0.001, timeout: Any = 5.0) -> Any:
    readiness = Readiness(poll_seconds=poll, timeout_seconds=timeout)
    return FeatureRegistration("rdma", args=FeatureRegistrationArgs(location="southcentralus", readiness=readiness))


def test_only_the_system_pool_is_inline_and_later_changes_of_inline_pools_are_left_alone(deploy: Deploy) -> None:
    made = deploy(lambda: cluster(system_pool=SystemPoolSettings(count=3)).cluster_name).one(CLUSTER)
    (profile,) = made.inputs["agentPoolProfiles"]
    assert (profile["name"], profile["mode"], profile["count"]) == ("system", "System", 3)
    assert made.request["ignoreChanges"] == ["agentPoolProfiles"]


def test_a_change_of_the_system_pool_is_left_alone_with_a_warning_that_says_what_to_do(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: warnings.append(text))
    system = {"name": "system", "vmSize": "standard_d8s_v5", "count": 2}
    there = {"agentPoolProfiles": [{"name": "ndh100", "count": 9}, system]}

    deploy(lambda: cluster().managed_cluster.agent_pool_profiles, outputs={CLUSTER: there})
    assert warnings == [], "the settings are what there is"

    args = {"system_pool": SystemPoolSettings(count=3)}
    deploy(lambda: cluster(**args).managed_cluster.agent_pool_profiles, outputs={CLUSTER: there})
    (warning,) = warnings
    assert "systemPool.count is 3, and in Azure 2" in warning
    assert "az aks nodepool scale --name system" in warning


def test_a_dns_prefix_that_is_cut_ends_in_no_dash(deploy: Deploy) -> None:
    name = "a" * 53 + "-b"
    args = AksClusterArgs(location="x", kubernetes_version="1.34", cluster_name=name, resource_group_name="group")
    made = deploy(lambda: AksCluster("rdma", args=args).cluster_name).one(CLUSTER)
    assert made.inputs["dnsPrefix"] == "a" * 53


def test_the_cluster_has_an_overlay_network_workload_identity_and_no_unasked_upgrades(deploy: Deploy) -> None:
    inputs = deploy(lambda: cluster().cluster_name).one(CLUSTER).inputs
    network = inputs["networkProfile"]
    assert (network["networkPlugin"], network["networkPluginMode"]) == ("azure", "overlay")
    assert (network["serviceCidr"], network["dnsServiceIP"]) == ("10.0.0.0/16", "10.0.0.10")
    assert network["loadBalancerSku"] == "standard"
    assert inputs["oidcIssuerProfile"] == {"enabled": True}
    assert inputs["securityProfile"] == {"workloadIdentity": {"enabled": True}}
    assert inputs["autoUpgradeProfile"] == {"upgradeChannel": "none", "nodeOSUpgradeChannel": "None"}


def test_the_cluster_waits_for_its_identitys_role_on_the_subnet(deploy: Deploy) -> None:
    deployment = deploy(lambda: cluster().cluster_name)
    assignment = deployment.one(ASSIGNMENT)
    assert assignment.urn in deployment.one(CLUSTER).request["dependencies"]
    assert assignment.inputs["principalType"] == "ServicePrincipal"
    assert assignment.inputs["roleDefinitionId"].endswith("roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7")


def test_the_role_assignments_name_is_the_same_every_time_and_follows_the_identity(deploy: Deploy) -> None:
    def name_for(principal: Any) -> Any:
        answers = {"azure-native:managedidentity:UserAssignedIdentity": {"principalId": principal}}
        assignment = deploy(lambda: cluster().cluster_name, outputs=answers).one(ASSIGNMENT)
        return assignment.inputs["roleAssignmentName"]

    assert name_for("one") == name_for("one")
    assert name_for("one") != name_for("another")


def test_the_kubeconfig_is_secret(deploy: Deploy) -> None:
    async def is_secret() -> Any:
        return await cluster().kubeconfig.is_secret()

    assert deploy(is_secret).result is True


def test_a_preview_without_a_cluster_asks_for_no_credentials(deploy: Deploy) -> None:
    assert deploy(lambda: cluster().cluster_name, preview=True).calls == []


@pytest.mark.parametrize("user", [{"exec": {"command": "kubelogin"}}, {"auth-provider": {"name": "azure"}}])
def test_a_kubeconfig_that_opens_a_login_is_refused(user: Any) -> None:
    config = json.dumps({"users": [{"name": "clusterUser", "user": user}]})
    with pytest.raises(KubeconfigError, match="waits for a person"):
        decode_kubeconfig(base64.b64encode(config.encode()).decode())


def test_a_gpu_pool_leaves_the_driver_to_the_operator_and_a_cpu_pool_has_none(deploy: Deploy) -> None:
    assert deploy(lambda: node_pool().ready).one(POOL).inputs["gpuProfile"] == {"driver": "None"}
    assert "gpuProfile" not in deploy(lambda: node_pool("hx", "Standard_HX176rs").ready).one(POOL).inputs


def test_what_azure_cannot_change_in_place_replaces_the_pool_deleting_first(deploy: Deploy) -> None:
    request = deploy(lambda: node_pool().ready).one(POOL).request
    assert {"vmSize", "gpuProfile", "osSKU", "osDiskType", "osDiskSizeGB", "availabilityZones", "vnetSubnetID"} <= set(
        request["replaceOnChanges"]
    )
    assert request["deleteBeforeReplace"] is True, "the name is taken, and so is the quota"
    assert {"create", "update", "delete"} <= set(request["customTimeouts"])


def test_labels_and_taints_live_on_the_pool(deploy: Deploy) -> None:
    inputs = deploy(lambda: node_pool(labels={"team": "ml"}, taints=("sku=gpu:NoSchedule",)).ready).one(POOL).inputs
    assert inputs["nodeLabels"] == {"team": "ml"}
    assert inputs["nodeTaints"] == ["sku=gpu:NoSchedule"]
    assert (inputs["mode"], inputs["osSKU"]) == ("User", "Ubuntu")


def test_a_pool_that_azure_left_failed_stops_the_deployment(deploy: Deploy) -> None:
    with pytest.raises(NodePoolError, match="pool ndh100 is Failed in Azure; it must be Succeeded"):
        deploy(lambda: node_pool().ready, outputs={POOL: {"provisioningState": "Failed"}})


def test_the_feature_is_waited_for_until_it_is_registered(deploy: Deploy) -> None:
    states = ["Registering", "Registering", "Registered"]
    deployment = deploy(lambda: registration().registered, feature_states=states)
    assert len(deployment.calls) == 3


def test_the_feature_is_registered_by_a_template_that_is_deployed_at_subscription_scope(deploy: Deploy) -> None:
    inputs = deploy(lambda: registration().registered).one(FEATURE).inputs
    assert inputs["properties"]["mode"] == "Incremental"
    template = inputs["properties"]["template"]
    assert template["$schema"].endswith("/subscriptionDeploymentTemplate.json#")
    [deployed] = template["resources"]
    assert deployed["type"] == "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations"
    assert (deployed["apiVersion"], deployed["properties"]) == ("2021-07-01", {})
    assert deployed["name"] == "Microsoft.ContainerService/AKSInfinibandSupport"


def test_the_deployment_has_a_name_of_its_own_in_every_location(deploy: Deploy) -> None:
    """Azure keeps a deployment's location for as long as it keeps its name."""
    made = deploy(lambda: registration().registered).one(FEATURE)
    assert "deploymentName" not in made.inputs
    assert made.inputs["location"] == "southcentralus"
    assert made.request["replaceOnChanges"] == ["location"]


def test_a_preview_neither_waits_for_the_feature_nor_looks(deploy: Deploy) -> None:
    assert deploy(lambda: registration().registered, preview=True, feature_states=["NotRegistered"]).calls == []


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("Pending", "Microsoft has to approve it"),
        ("Registering", "which goes on waiting"),
        ("Unregistered", "az feature register --subscription 00000000-0000-0000-0000-0000000000aa"),
    ],
)
def test_a_feature_that_stays_unregistered_names_subscription_state_and_what_to_do(
    deploy: Deploy, state: Any, advice: Any
) -> None:
    with pytest.raises(FeatureRegistrationError) as late:
        deploy(lambda: registration(timeout=0.01).registered, feature_states=[state])
    text = str(late.value)
    assert f"of subscription 00000000-0000-0000-0000-0000000000aa is {state}" in text
    assert advice in text


def test_what_depends_on_the_feature_is_registered_only_after_it(deploy: Deploy) -> None:
    order: list[str] = []

    def program() -> Any:
        feature = registration()
        feature.registered.apply(lambda _: order.append("registered"))
        args = InfinibandNodePoolArgs(
            pool_name="ndh100",
            resource_group_name="group",
            cluster_name="cluster",
            size=SIZES["Standard_ND96isr_H100_v5"],
            count=2,
            subnet_id="subnet",
        )
        pool = InfinibandNodePool("ndh100", args=args, opts=pulumi.ResourceOptions(depends_on=[feature.registered]))
        return pool.ready.apply(lambda _: order.append("pool"))

    deployment = deploy(program, feature_states=["Registering", "Registered"])
    assert order == ["registered", "pool"]
    types = [one.type for one in deployment.registrations]
    assert types.index(FEATURE) < types.index(POOL)
