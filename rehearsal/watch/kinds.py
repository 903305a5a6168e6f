"""The kinds of object that simulators look at, as resources of lightkube that give plain documents.

Typed models would drop the fields that they do not know.
"""

from collections.abc import Mapping
from typing import Any, Final

from lightkube.generic_resource import (
    GenericNamespacedResource,
    create_global_resource,
    create_namespaced_resource,
)

DEFINITION: Final = "CustomResourceDefinition"
_BUILT_IN_NAMESPACED: Final = {
    "Pod": ("", "v1", "pods"),
    "ConfigMap": ("", "v1", "configmaps"),
    "ServiceAccount": ("", "v1", "serviceaccounts"),
    "DaemonSet": ("apps", "v1", "daemonsets"),
    "Deployment": ("apps", "v1", "deployments"),
    "ControllerRevision": ("apps", "v1", "controllerrevisions"),
    "ResourceClaim": ("resource.k8s.io", "v1", "resourceclaims"),
    "EndpointSlice": ("discovery.k8s.io", "v1", "endpointslices"),
    "ResourceClaimTemplate": ("resource.k8s.io", "v1", "resourceclaimtemplates"),
}
_BUILT_IN_GLOBAL: Final = {
    "Node": ("", "v1", "nodes"),
    "RuntimeClass": ("node.k8s.io", "v1", "runtimeclasses"),
    "ResourceSlice": ("resource.k8s.io", "v1", "resourceslices"),
    DEFINITION: ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
}
_CUSTOM_NAMESPACED: Final = {
    "NetworkAttachmentDefinition": ("k8s.cni.cncf.io", "v1", "network-attachment-definitions"),
    "DeviceConfig": ("amd.com", "v1alpha1", "deviceconfigs"),
    "IPPool": ("nv-ipam.nvidia.com", "v1alpha1", "ippools"),
    "ComputeDomain": ("resource.nvidia.com", "v1beta1", "computedomains"),
    "ComputeDomainClique": ("resource.nvidia.com", "v1beta1", "computedomaincliques"),
}
_CUSTOM_GLOBAL: Final = {
    "NodeFeatureRule": ("nfd.k8s-sigs.io", "v1alpha1", "nodefeaturerules"),
    "NicClusterPolicy": ("mellanox.com", "v1alpha1", "nicclusterpolicies"),
    "NicNodePolicy": ("mellanox.com", "v1alpha1", "nicnodepolicies"),
    "IPoIBNetwork": ("mellanox.com", "v1alpha1", "ipoibnetworks"),
    "ClusterPolicy": ("nvidia.com", "v1", "clusterpolicies"),
}
RESOURCES: Final[Mapping[str, Any]] = {
    **{
        kind: create_namespaced_resource(group, version, kind, plural)
        for kind, (group, version, plural) in {**_BUILT_IN_NAMESPACED, **_CUSTOM_NAMESPACED}.items()
    },
    **{
        kind: create_global_resource(group, version, kind, plural)
        for kind, (group, version, plural) in {**_BUILT_IN_GLOBAL, **_CUSTOM_GLOBAL}.items()
    },
}
"""lightkube's resource for each kind."""
DEFINED_BY: Final[Mapping[str, str]] = {
    kind: f"{plural}.{group}" for kind, (group, _, plural) in {**_CUSTOM_NAMESPACED, **_CUSTOM_GLOBAL}.items()
}
"""The CustomResourceDefinition of each kind that has one."""


def everywhere(kind: str) -> dict[str, Any]:
    """The arguments that make lightkube list or watch a kind in all namespaces."""
    return {"namespace": "*"} if issubclass(RESOURCES[kind], GenericNamespacedResource) else {}
