"""What the programs are built without: packages that take minutes to compile and that no rehearsal reaches.

A small file of our own (left-out/) takes the place of such a package, and says so when it is asked. Where a whole
module goes, go.mod itself replaces it by a folder in left-out/: the Go SDK of the Kubernetes provider, AWS's S3, the
clients of Google's services.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rehearsal.tools.pins import SOURCES

STAND_INS = SOURCES / "left-out"


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A package that is left out of a program, or the part of it that nothing uses.

    program: the folder whose go.mod requires the module.
    package: its path within the module; empty for the package at the module's root.
    stand_in: our file, within left-out/; empty where nothing can ask for what is gone.
    keep: the files of the package that stay.
    """

    program: str
    module: str
    package: str
    stand_in: str = ""
    keep: tuple[str, ...] = ()


_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_ENGINE = "github.com/pulumi/pulumi/pkg/v3"
_FLUX = "github.com/fluxcd/pkg/ssa"


def _of_provider(package: str, stand_in: str, *keep: str) -> LeftOut:
    stand_in = f"kubernetes-provider/{stand_in}"
    return LeftOut(program="kubernetes-provider", module=_PROVIDER, package=package, stand_in=stand_in, keep=keep)


def _of_engine(module: str, package: str, stand_in: str, *keep: str) -> LeftOut:
    return LeftOut(program="pulumi", module=module, package=package, stand_in=f"pulumi/{stand_in}", keep=keep)


LEFT_OUT = (
    # The kubelet, which runs on machines; the controller manager takes one function from it, and this is that function.
    LeftOut(
        program="kubernetes",
        module="k8s.io/kubernetes",
        package="pkg/kubelet/eviction",
        stand_in="kubernetes/eviction.go",
    ),
    # Component resources (ConfigFile, ConfigGroup, Chart, Directory), which need the whole Go SDK: 68 packages.
    _of_provider("pkg/provider/yaml/v2", "yaml_v2.go"),
    _of_provider("pkg/provider/helm/v4", "helm_v4.go"),
    _of_provider("pkg/provider/kustomize/v2", "kustomize_v2.go"),
    _of_provider("pkg/provider/resource", "resource.go", "provider.go"),
    # The provider takes the patches of managed fields from here, and nothing of the rest.
    LeftOut(program="kubernetes-provider", module=_FLUX, package="", keep=("patch.go",)),
    # State in the clouds' object stores. That in a folder stays.
    _of_engine("gocloud.dev", "blob/azureblob", "azureblob.go"),
    _of_engine("gocloud.dev", "blob/gcsblob", "gcsblob.go"),
    _of_engine("gocloud.dev", "blob/s3blob", "s3blob.go"),
    _of_engine(_ENGINE, "authhelpers", "authhelpers.go"),
    # Secrets that a cloud's key service guards. Those with a passphrase stay.
    _of_engine(_ENGINE, "secrets/cloud", "secrets_cloud.go"),
    # `pulumi logs` of the clouds' own services.
    _of_engine(_ENGINE, "operations", "operations.go", "operations.go", "operations_cloud_aws.go", "resources.go"),
    # The assistant, and the viewer of traces of the engine itself.
    _of_engine(_ENGINE, "cmd/pulumi/neo", "neo.go"),
    _of_engine(_ENGINE, "cmd/pulumi/trace", "trace.go"),
)


def replaced(program: str, modules: Mapping[str, Path]) -> dict[str, str]:
    """The files of a program's modules that are others here: path -> what is there instead, "" for nothing.

    modules: where each module is that is named here.
    """
    found: dict[str, str] = {}
    for entry in (entry for entry in LEFT_OUT if entry.program == program):
        package = modules[entry.module] / entry.package
        found |= {str(file): "" for file in package.glob("*.go") if file.name not in entry.keep}
        if entry.stand_in:
            found[str(package / "left_out.go")] = str(STAND_INS / entry.stand_in)
    return found


def packages(program: str) -> dict[str, str]:
    """Each module of a program that is named here, and a package of it, by which Go finds it."""
    entries = (entry for entry in LEFT_OUT if entry.program == program)
    return {entry.module: f"{entry.module}/{entry.package}".rstrip("/") for entry in entries}
