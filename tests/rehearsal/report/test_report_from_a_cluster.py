"""The report page of a cluster: the ConfigMaps as validations leave them, in a real API server."""

import json
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE, labels
from aks_infiniband.validation.payload.report.document import SCHEMA_VERSION
from aks_infiniband.validation.payload.talk.config_maps import packed
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report.sources import NoReportsError, from_cluster
from lightkube import Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace

from rehearsal.control_plane import CONTROL_PLANE_ONLY, ControlPlane

REPORT = {
    "schema_version": SCHEMA_VERSION,
    "vm_size": "Standard_HB176rs_v4",
    "verdict": "pass",
    "finished": "2026-11-21T15:00:00+00:00",
    "coverage": {"summary": "2 of 2 nodes, 2 of 2 HCAs"},
    "checks": [],
    "thresholds": {},
    "rdma": [],
    "collective": None,
}


def config_map(name: str, namespace: str, component: str, texts: dict[str, str]) -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace=namespace, labels=labels("validation", component))
    left: Any = packed(texts)
    return ConfigMap(metadata=metadata, **left)


def test_reports_are_found_where_validations_are_and_what_anybody_wrote_elsewhere_is_not_taken_for_one(
    tmp_path: Path,
) -> None:
    with ControlPlane.start(tmp_path / "run", parts=CONTROL_PLANE_ONLY) as control_plane:
        client = Client(config=KubeConfig.from_file(control_plane.kubeconfig), trust_env=False)
        kubeconfig = control_plane.kubeconfig.read_text()
        with pytest.raises(NoReportsError, match="no validation has left a report"):
            from_cluster(kubeconfig)
        for namespace in (SYSTEM_NAMESPACE, "team"):
            client.create(Namespace(metadata=ObjectMeta(name=namespace)))
        of_any_version = (
            (SYSTEM_NAMESPACE, "hb", "report.json.gz"), (SYSTEM_NAMESPACE, "hx", "report.json"),
            ("team", "forged", "report.json.gz"),
        )  # fmt: skip
        for namespace, pool, key in of_any_version:
            data = {key: json.dumps({**REPORT, "pool": pool}), "node.a.json.gz": "{}"}
            client.create(config_map(f"{pool}-validation-report", namespace, "report", data))
            client.create(config_map(f"{pool}-validate", namespace, "validate", {key: "no report"}))
            client.create(config_map(f"{pool}-empty", namespace, "report", {}))
        assert list(from_cluster(kubeconfig)) == ["hb", "hx"]
        assert list(from_cluster(kubeconfig, namespace="team")) == ["forged"], "where one says so"
        assert main(["report", "--kubeconfig", str(control_plane.kubeconfig), "--out", str(tmp_path / "page")]) == 0
    assert "Standard_HB176rs_v4" in (tmp_path / "page" / "report.html").read_text()
