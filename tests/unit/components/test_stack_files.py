"""The stack files of the project itself, each through the whole program against mocks."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband import SIZES, RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.facts.kubernetes import RELEASES, minor_of
from aks_infiniband.facts.releases import DEFAULT_RELEASE

from declared.pulumi_mocks import Deploy, Deployment
from tests.unit.components.stack_files import made

ROOT = Path(__file__).parents[3]
STACKS = sorted(ROOT.glob("Pulumi.*.yaml"))
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: lab
clusters:
  - {name: lab, cluster: {server: "https://lab.example.com:6443"}}
  - {name: other, cluster: {server: "https://other.example.com:6443"}}
contexts:
  - {name: lab, context: {cluster: lab, user: admin}}
  - {name: other, context: {cluster: other, user: admin}}
users: [{name: admin, user: {token: t0ken}}]
"""


@pytest.fixture(params=STACKS, ids=lambda file: file.stem.removeprefix("Pulumi."))
def configuration(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The content of a stack file, read in the project's folder by a user who has a kubeconfig at home."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)
    return yaml.safe_load(request.param.read_text())["config"]


def run(deploy: Deploy, configuration: Any, *, preview: bool) -> Deployment:
    args = RdmaClusterArgs(stack=load(configuration))
    state = "NotRegistered" if needs_absence(configuration) else "Registered"
    return deploy(lambda: RdmaCluster("rdma", args=args).cluster_name, preview=preview, feature_states=[state])


def needs_absence(configuration: Any) -> bool:
    """True if a stack's machines must not have the subscription's feature."""
    sizes = [SIZES[pool["vmSize"]] for pool in configuration["aks-infiniband:pools"] if pool["vmSize"] in SIZES]
    return not all(size.placement_feature for size in sizes)


def test_a_preview_where_nothing_is_there_shows_all_that_an_update_makes(deploy: Deploy, configuration: Any) -> None:
    previewed = run(deploy, configuration, preview=True)
    made = run(deploy, configuration, preview=False)
    assert sorted(resource.urn for resource in previewed.registrations) == sorted(
        resource.urn for resource in made.registrations
    )
    validated = [pool for pool in configuration["aks-infiniband:pools"] if pool.get("infiniband", True)]
    assert len(made.all("kubernetes:batch/v1:Job")) == len(validated)


def test_a_preview_where_nothing_is_there_asks_the_cluster_nothing(deploy: Deploy, configuration: Any) -> None:
    calls = run(deploy, configuration, preview=True).calls
    assert [call for call in calls if not call.startswith("azure-native:features:")] == []
    assert bool(calls) == needs_absence(configuration), "a feature that has to be absent is looked for at preview, too"


@pytest.mark.parametrize("name", ["dev", "sriov", "ipoib", "dra", "mixed"])
@pytest.mark.field_report("R1")
def test_the_stacks_versions_have_nine_months_left_and_are_named_by_both_operators(name: str) -> None:
    file = ROOT / f"Pulumi.{name}.yaml"
    settings = made(load(yaml.safe_load(file.read_text())["config"])).settings
    release = RELEASES[minor_of(settings.kubernetes_version)]
    assert release.last_day(settings.support_plan) >= date(2027, 8, 22)
    assert DEFAULT_RELEASE.unnamed(settings.kubernetes_version) == []
