"""An object that one manager has applied another can apply as well: an `up` after one that was killed, or whose state
was lost.

The Kubernetes provider applies each object under a new manager's name, which it keeps in the engine's state. The state
of an `up` that is killed does not have it yet, so the next one is a stranger to its own object. Another manager that
applies the same succeeds, unless the server has completed a field that it owns as a whole.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from declared.program import run
from declared.pulumi_mocks import Registration
from rehearsal.control_plane import CONTROL_PLANE_ONLY, ControlPlane
from rehearsal.tools.paths import PROJECT
from tests.recordings.programs import PROGRAMS

DEFINITIONS = (
    *sorted((PROJECT / "rehearsal/charts").glob("*/crds/*.yaml")),
    *sorted((PROJECT / "rehearsal/operators/crds").glob("*.yaml")),
    *sorted((PROJECT / "rehearsal/stack/definitions").glob("*.yaml")),
)
WITH_LIBRARY: Final = [
    program for program in PROGRAMS if "from aks_infiniband" in (program.folder / "__main__.py").read_text()
]
"""The example without the library declares a Helm release and no object."""
_NO_OBJECTS: Final = ("kubernetes:helm.sh/",)
_OF_OTHERS: Final = ":DaemonSetPatch"
"""A part of an object that a chart makes: alone it is not a DaemonSet."""
_H100: Final = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2}
_HB: Final = {"name": "hbv4", "vmSize": "Standard_HB176rs_v4", "count": 2}
_EVERYTHING: Final[dict[str, dict[str, Any]]] = {
    "all that watches and prepares": {
        "pools": [{**_H100, "mode": "sriov"}, {**_HB, "mode": "ipoib"}],
        "networkOperator": {"nodePreparation": True, "valuesFile": None},
        "lightCheck": {"schedule": "17 * * * *"},
        "observability": {"prometheus": "kube-prometheus"},
        "workload": {"namespaces": ["team"], "registryCredentials": True},
    },
    "privileged pods, and Azure's Prometheus": {
        "pools": [{**_HB, "mode": "driver-only"}],
        "observability": {"prometheus": "azure"},
        "networkOperator": {"valuesFile": None},
    },
    "claims of HCAs": {"pools": [_HB], "networkOperator": {"mode": "dra", "driver": "inbox", "valuesFile": None}},
    "a GPU driver of AKS": {"pools": [{**_H100, "gpuDriver": "aks"}], "networkOperator": {"valuesFile": None}},
}
"""Settings with which the program declares what none of the repository's stacks does."""
_LOGIN: Final = {"auths": {"registry.example.com": {"auth": "dTpw"}}}


@pytest.fixture(name="cluster", scope="module")
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("second-manager") / "run"
    with ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY) as control_plane:
        for file in DEFINITIONS:
            done = kubectl(control_plane, "apply", "--server-side", "--filename", str(file))
            assert done.returncode == 0, done.stderr
        waited = kubectl(control_plane, "wait", "--for=condition=established", "crd", "--all")
        assert waited.returncode == 0, waited.stderr
        yield control_plane


def kubectl(control_plane: ControlPlane, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KUBECONFIG": str(control_plane.kubeconfig), "NO_PROXY": "127.0.0.1"}
    program = Path(sys.executable).with_name("kubectl")
    return subprocess.run([program, *words], check=False, env=environment, input=text, capture_output=True, text=True)


def declared(folder: Path, stack: str) -> dict[str, dict[str, Any]]:
    """By URN, every object that a program requests from the Kubernetes provider."""
    found = {}
    for urn, request in run(folder, stack).resources.items():
        type_ = request["type"]
        if type_.startswith("kubernetes:") and not type_.startswith(_NO_OBJECTS) and not type_.endswith(_OF_OTHERS):
            found[urn] = Registration(urn, type_, request["name"], request).inputs
    return found


def with_settings(folder: Path, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The library's declaration for a stack file with these settings, in a registry that requires a login."""
    config: dict[str, Any] = {f"aks-infiniband:{key}": value for key, value in settings.items()}
    config["azure-native:location"] = "southcentralus"
    config["aks-infiniband:gpuOperator"] = {"valuesFile": None}
    config["aks-infiniband:cluster"] = {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"}
    (folder / "Pulumi.yaml").write_text("{name: test, runtime: python}")
    (folder / "Pulumi.test.yaml").write_text("config: {}")
    (folder / "__main__.py").write_text(f"""
import json
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
stack = load(json.loads({json.dumps(config)!r}), credentials={json.dumps(_LOGIN)!r})
RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack))
""")
    return declared(folder, "test")


def conflicts(cluster: ControlPlane, objects: dict[str, dict[str, Any]]) -> str:
    """The API server's words if a second manager applies the same as a first one."""
    spaces = {found["metadata"]["namespace"] for found in objects.values() if "namespace" in found["metadata"]}
    for space in sorted(spaces):
        kubectl(cluster, "create", "namespace", space)
    ours = [found for found in objects.values() if found["kind"] == "Namespace"]
    rest = [found for found in objects.values() if found["kind"] != "Namespace"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*ours, *rest]})
    apply = ("apply", "--server-side", "--filename=-")
    first = kubectl(cluster, *apply, "--field-manager=first", "--force-conflicts", text=text)
    assert first.returncode == 0, first.stderr
    second = kubectl(cluster, *apply, "--field-manager=second", text=text)
    # Namespaces stay for the next test: to be gone takes them long.
    made = json.dumps({"apiVersion": "v1", "kind": "List", "items": rest})
    gone = kubectl(cluster, "delete", "--ignore-not-found", "--filename=-", text=made)
    assert gone.returncode == 0, gone.stderr
    return second.stderr


@pytest.mark.parametrize("program", WITH_LIBRARY, ids=lambda program: program.name)
def test_a_second_manager_conflicts_with_no_object_of_any_stack_or_example(cluster: ControlPlane, program: Any) -> None:
    objects = declared(program.folder, program.stack)
    assert {"Namespace", "ConfigMap"} <= {found["kind"] for found in objects.values()}
    assert conflicts(cluster, objects) == ""


@pytest.mark.parametrize("what", _EVERYTHING)
def test_a_second_manager_conflicts_with_nothing_that_only_a_setting_brings(
    cluster: ControlPlane, tmp_path: Path, what: str
) -> None:
    assert conflicts(cluster, with_settings(tmp_path, _EVERYTHING[what])) == ""


def test_those_settings_bring_every_kind_of_object_that_the_library_makes(tmp_path: Path) -> None:
    """The kinds are read from the library's source, so that a new one is not forgotten."""
    made: set[str] = set()
    for number, settings in enumerate(_EVERYTHING.values()):
        (folder := tmp_path / str(number)).mkdir()
        made |= {found["kind"] for found in with_settings(folder, settings).values()}
    used = re.compile(r"(?:k8s|kubernetes|admission)\.(?:[a-z0-9_]+\.)*([A-Z]\w+)\(")
    library = [path.read_text() for path in (PROJECT / "components").rglob("*.py")]
    kinds = {kind for text in library for kind in used.findall(text) if not kind.endswith("Args")}
    kinds -= {"Provider", "Release", "CustomResource", "CustomResourcePatch", "DaemonSetPatch"}
    assert len(kinds) > 10
    assert made >= kinds, kinds - made


def test_a_field_that_the_server_completes_is_found(cluster: ControlPlane) -> None:
    """Proof that the test can fail: a policy as it was written before."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "incomplete"},
        "spec": {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "true"}]},
    }
    assert ".spec.matchConstraints" in conflicts(cluster, {"incomplete": policy})
