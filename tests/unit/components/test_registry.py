"""A private registry: the source of every image, and its Secret."""

import base64
import json
from dataclasses import asdict
from typing import Any

import pulumi
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.facts.versions import Image
from aks_infiniband.operators.charts import gpu_operator_images, network_operator_images
from aks_infiniband.resources.registry import Registry, RegistryCredentials, RegistryCredentialsArgs

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import configuration

MIRROR = Registry(images="acr.example:5000/mirror", pull_secret="aks-infiniband-registry")


def test_custom_resources_and_pods_name_the_pull_secret_each_in_their_way() -> None:
    image = Image(repository="nvcr.io/nvidia", image="x", version="1")
    assert MIRROR.fields(image) == {
        "repository": "acr.example:5000/mirror/nvidia",
        "image": "x",
        "version": "1",
        "imagePullSecrets": ["aks-infiniband-registry"],
    }
    assert MIRROR.pull_secrets() == [{"name": "aks-infiniband-registry"}]
    assert Registry().fields(image) == asdict(image)
    assert Registry().pull_secrets() == []


def test_both_charts_are_left_alone_without_a_registry() -> None:
    assert network_operator_images(Registry()) == {}
    assert gpu_operator_images(Registry()) == {}


def test_the_secret_is_one_that_pods_pull_with_and_the_engine_keeps_its_content(deploy: Deploy) -> None:
    content = json.dumps({"auths": {"acr.example": {"auth": "dTpw"}}})

    def program() -> Any:
        args = RegistryCredentialsArgs(namespace="apps", docker_config=content)
        return RegistryCredentials("registry", args=args).secret_name

    deployment = deploy(program)
    secret = deployment.one("kubernetes:core/v1:Secret")
    assert secret.inputs["type"] == "kubernetes.io/dockerconfigjson"
    assert secret.inputs["metadata"]["name"] == "aks-infiniband-registry"
    assert secret.inputs["metadata"]["namespace"] == "apps"
    assert {name: base64.b64decode(text).decode() for name, text in secret.inputs["data"].items()} == {
        ".dockerconfigjson": content
    }
    assert secret.is_secret("data")


def test_registry_credentials_are_a_secret_where_our_pods_run_and_where_workloads_do_only_if_asked_for(
    deploy: Deploy,
) -> None:
    credentials = '{"auths": {"mirror.example.com": {"auth": "aGVsbG86d29ybGQ="}}}'

    def stack(**more: Any) -> Any:
        given = configuration(registry={"images": "mirror.example.com/aks"}, **more)
        args = RdmaClusterArgs(stack=load(given, credentials=pulumi.Output.secret(credentials)))
        return RdmaCluster("rdma", args=args).cluster_name

    secrets = deploy(stack).all("kubernetes:core/v1:Secret")
    namespaces = {secret.inputs["metadata"]["namespace"] for secret in secrets}
    assert namespaces == {"aks-infiniband-system", "network-operator", "gpu-operator"}
    for secret in secrets:
        assert secret.is_secret("data")
    asked = {"registryCredentials": True, "namespaces": ["training"]}
    more = deploy(lambda: stack(workload=asked)).all("kubernetes:core/v1:Secret")
    assert {secret.inputs["metadata"]["namespace"] for secret in more} == namespaces | {"aks-infiniband", "training"}
