"""The values that Azure and Kubernetes take, and the words that refuse a wrong one.

Each rule returns the value it was given, or raises ValueError with a text that continues "KEY is VALUE; ".
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from aks_infiniband.facts.azure_names import NO_SIZE, SYSTEM_CORES, is_size, too_small_for_the_system
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.facts.releases import OLDEST_KUBERNETES

_LABEL_NAME: Final = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_DNS_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_LABEL_KEY: Final = rf"((?=[^/]{{1,253}}/){_DNS_LABEL}(\.{_DNS_LABEL})*/)?{_LABEL_NAME}"
_TAINT: Final = rf"{_LABEL_KEY}(={_LABEL_NAME})?:(NoSchedule|PreferNoSchedule|NoExecute)"
_GUID: Final = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_GROUP: Final = rf"/subscriptions/{_GUID}/resource[Gg]roups/[^/\s]+/providers/[Mm]icrosoft\."

_HOST: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT: Final = r"([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_REGISTRY: Final = rf"(?=[^/]*[.:]|localhost)(?=[^/]{{1,253}}(/|$)){_HOST}(\.{_HOST})*(:{_PORT})?"
"""A first part without . and : is not a host to a container runtime, but a path on Docker Hub
(distribution/reference).
"""
_IMAGE_PATH: Final = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_TAG: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"

_KUBELET_LABELS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""Prefixes within Kubernetes' own domains that are open to --node-labels (Kubernetes, "kubelet", --node-labels)."""

_LABELS_OF_AKS: Final = frozenset({"agentpool", "storageprofile", "storagetier", "accelerator"})
"""Labels in addition to those in kubernetes.azure.com (Azure, "Use labels in an Azure Kubernetes Service (AKS)
cluster", reserved system labels, read 2026-11-23).
"""
_LABELS_OF_OPERATORS: Final = (
    *("nvidia.com/gpu.deploy.", "nvidia.com/gpu.present", "nvidia.com/gpu-driver-upgrade", "nvidia.com/ofed-driver"),
    *("network.nvidia.com/operator.", "amd.com/gpu.", "beta.amd.com/gpu.", "gpu.operator.amd.com/"),
)
"""Prefixes of the labels that GPU Operator 26.3.3 and Network Operator 26.4.1 set, seen with the real ones, 2026-11,
and AMD's GPU Operator v1.5.1 (internal/utils.go).
"""
_TAINTS_OF_KUBERNETES: Final = (
    *("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler"),
    "DeletionCandidateOfClusterAutoscaler",
)
"""Prefixes of the keys of taints that controllers of Kubernetes set and remove (Kubernetes, "Well-Known Labels,
Annotations and Taints"), and its autoscaler (kubernetes/autoscaler, utils/taints).
"""


@dataclass(frozen=True, slots=True)
class Matching:
    """A rule, and the metadata of a text's annotation: the value matches the pattern as a whole."""

    pattern: str
    """In what Python and ECMAScript read alike, for the published schema has it too."""
    says: str
    """The same in words, after "must be"."""

    @property
    def whole(self) -> str:
        """The pattern for a reader that looks for it anywhere in a text, as JSON schema does."""
        return f"^(?:{self.pattern})$"

    def __call__(self, value: str) -> str:
        """Raises ValueError."""
        if not re.fullmatch(self.pattern, value):
            raise ValueError(f"must be {self.says}")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.__call__, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # The message is one that editors on the base of yaml-language-server show in place of the pattern.
        return {**handler(schema), "pattern": self.whole, "patternErrorMessage": f"must be {self.says}"}


def _resource_id(kind: str, path: str) -> Matching:
    """The resource ID of something that exists; Azure's tools write some of its words in lower case."""
    return Matching(_GROUP + path, f"the resource ID of {kind}, /subscriptions/…/resourceGroups/…/providers/…")


version = Matching(r"[0-9]\.(0|[1-9][0-9]?)(\.(0|[1-9][0-9]{0,2}))?", 'a quoted version such as "1.35" or "1.35.8"')
pool_name = Matching(r"[a-z][a-z0-9]{0,11}", "1 to 12 lower-case letters and digits, a letter first")
resource_name = Matching(
    r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?",
    "1 to 63 letters, digits, - and _, a letter or digit first and last",
)
resource_group_name = Matching(r"[\w().-]{0,89}[\w()-]", "1 to 90 letters, digits, _ ( ) - and ., not ending with .")
vm_size = Matching(r"[Ss]tandard_[A-Za-z0-9_-]{1,60}", "an Azure VM size, such as Standard_D8s_v5")
zone = Matching(r"[123]", "an availability zone: '1', '2' or '3'")
label_key = Matching(
    _LABEL_KEY,
    "a Kubernetes label key: [DNS domain/]NAME, at most 63 letters, digits, - _ and .",
)
label_value = Matching(rf"({_LABEL_NAME})?", "a Kubernetes label value: at most 63 letters, digits, - _ and .")
taint = Matching(_TAINT, "a taint, key=value:NoSchedule (or PreferNoSchedule, NoExecute)")
namespace = Matching(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", "a namespace: at most 63 lower-case letters, digits and -")
object_id = Matching(_GUID, "the object ID of a group of Entra ID, such as 01234567-89ab-cdef-0123-456789abcdef")
interface_name = Matching(
    r"[A-Za-z0-9]([A-Za-z0-9.-]{0,13}[A-Za-z0-9])?",
    "a network interface of the machine, at most 15 letters, digits, . and -, such as ibP257p0s0",
)
pci_id = Matching(r"[0-9a-f]{4}", "a PCI device ID, four lower-case hexadecimal digits such as '101e'")
chart_repository = Matching(
    r"https?://[^\s@]{1,1000}",
    "the http:// or https:// URL of a chart repository; an oci:// address is given as the chart's name",
)
chart_location = Matching(
    r"(https?|oci)://[^\s@]{1,1000}[^\s/@]",
    "an https:// chart repository or an oci:// registry, without a / at the end",
)
image_registry = Matching(
    rf"(?=.{{1,200}}$){_REGISTRY}(/{_IMAGE_PATH})*",
    "a registry, HOST[:PORT][/PATH] without https:// and tag, such as mirror.azurecr.io/nvidia",
)
image = Matching(
    rf"(?=.{{1,255}}$)({_REGISTRY}/)?{_IMAGE_PATH}(/{_IMAGE_PATH})*(:{_TAG})?(@sha256:[0-9a-f]{{64}})?",
    "an image, [HOST[:PORT]/]PATH[:TAG][@sha256:…] in lower-case letters, such as mirror.azurecr.io/tests:1.2",
)
image_repository = Matching(
    rf"(?=.{{1,200}}$){_REGISTRY}(/{_IMAGE_PATH})+",
    "a repository of images, HOST[:PORT]/PATH without a tag, such as myregistry.azurecr.io/amd/amdgpu-kmod",
)
image_tag = Matching(_TAG, "an image's tag: at most 128 letters, digits, _ . and -, the first no . or -")
chart_name = Matching(
    r"(?=.{1,1000}$)(oci://[^\s@]+|[^\s\x00-\x1f{}$@-][^\x00-\x1f{}$@]*/[^\x00-\x1f{}$@]*|[a-z0-9][a-zA-Z0-9._-]*)",
    "a chart's name, an oci:// address, or a path, which has a /",
)
chart_version = Matching(
    r"(?=.*[0-9*])[0-9A-Za-z.*^~<>=!|, +-]{1,100}",
    "a chart's version, such as 26.4.1, or a range of them, such as ~26.4",
)
text = Matching(r"[^\x00-\x1f]{1,1000}", "one line of at most 1,000 characters")
word = Matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", "one word of at most 63 letters, digits, . _ and -")
region = Matching(r"[a-z][a-z0-9]{2,39}", "an Azure region by its name, such as southcentralus")
subnet_id = _resource_id("a subnet", r"[Nn]etwork/virtual[Nn]etworks/[^/\s]+/subnets/[^/\s]+")
identity_id = _resource_id("a user-assigned identity", r"[Mm]anaged[Ii]dentity/user[Aa]ssigned[Ii]dentities/[^/\s]+")
snapshot_id = _resource_id("a node pool snapshot", r"[Cc]ontainer[Ss]ervice/snapshots/[^/\s]+")
workspace_id = _resource_id("an Azure Monitor workspace", r"[Mm]onitor/accounts/[^/\s]+")
capacity_reservation_group_id = _resource_id(
    "a capacity reservation group", r"[Cc]ompute/capacity[Rr]eservation[Gg]roups/[^/\s]+"
)


def _cron_field(number: str) -> str:
    part = rf"(\*|{number}(-{number})?)(/[1-9][0-9]?)?"
    return f"{part}(,{part})*"


_CRON: Final = ("[0-5]?[0-9]", "([01]?[0-9]|2[0-3])", "([1-9]|[12][0-9]|3[01])", "([1-9]|1[0-2])", "[0-6]")
schedule = Matching(
    " ".join(map(_cron_field, _CRON)),
    "a schedule in cron's five fields of numbers, such as '17 * * * *': minute, hour, day, month, and day of the week "
    "from 0 (Sunday) to 6",
)


def label(key: str) -> str:
    """A label that a pool may carry: none that AKS or an operator sets itself, or that a kubelet refuses."""
    if key in _LABELS_OF_AKS:
        raise ValueError("is a label that AKS gives its nodes itself: choose another key")
    if key.startswith(_LABELS_OF_OPERATORS):
        raise ValueError(
            "is a label by which NVIDIA's operators decide what runs on a node, and they or this program set it: "
            "gpuDriver and networkOperator say what is to run"
        )
    domain = key.split("/", maxsplit=1)[0] if "/" in key else ""
    if _within(domain, "kubernetes.azure.com"):
        raise ValueError("must not be in kubernetes.azure.com: AKS keeps that prefix for its own labels")
    if _within(domain, "kubernetes.io", "k8s.io") and not _within(domain, *_KUBELET_LABELS):
        raise ValueError(
            f"must not be in kubernetes.io or k8s.io, except {' and '.join(_KUBELET_LABELS)}: a kubelet that is to "
            "give itself such a label does not start"
        )
    return key


def is_of_kubernetes(taint: str) -> bool:
    """True if a controller of Kubernetes sets and removes a taint. taint: as text, or its key alone."""
    return taint.startswith(_TAINTS_OF_KUBERNETES)


def own_taint(value: str) -> str:
    """A taint that a user owns: none that a controller takes away again."""
    if is_of_kubernetes(value):
        raise ValueError("is a taint that Kubernetes sets and removes itself: choose another key")
    return value


def _within(domain: str, *parents: str) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


def kubernetes_version(value: str) -> str:
    """A version as AKS takes it, not older than the operators support."""
    if minor_of(value) < OLDEST_KUBERNETES:
        oldest = ".".join(map(str, OLDEST_KUBERNETES))
        raise ValueError(f"must be {oldest} or later: the Network Operator supports no older Kubernetes")
    return value


def system_size(value: str) -> str:
    """A size for the system pool: any but those with InfiniBand."""
    if value in SIZES:
        raise ValueError("is an InfiniBand size: give it a separate pool under aks-infiniband:pools")
    if too_small_for_the_system(value):
        raise ValueError(
            f"must have {SYSTEM_CORES} vCPUs or more and not be of the B series: AKS requires it of system pools"
        )
    if not is_size(value):
        raise ValueError(NO_SIZE)
    return value


def region_name(value: str) -> str:
    """A region, by its name or as people read it: West US 3 is westus3."""
    return region("".join(value.split(" ")).lower())


Zone = Annotated[str, zone]
Labels = dict[Annotated[str, label_key], Annotated[str, label_value]]
"""Labels by which nodes are picked."""
Text = Annotated[str, Field(min_length=1), text]
"""A path, or a name that others gave."""
