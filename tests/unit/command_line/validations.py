"""A deployed validation, nodes and pods, as the API server gives them."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.job_parts import named_job
from aks_infiniband.validation.membership import Membership
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec
from aks_infiniband_cli.validate import rendering
from aks_infiniband_cli.validate.comparison import Change
from aks_infiniband_cli.validate.deployed import Deployed, deployed, expected_of
from aks_infiniband_cli.validate.documents import Run
from aks_infiniband_cli.validate.nodes import LeftOut

from tests.unit.command_line.loopback import kubeconfig

POOL = Pool(
    name="ndh100",
    size=SIZES["Standard_ND96isr_H100_v5"],
    node_count=4,
    node_selector={"agentpool": "ndh100"},
    gpu_driver="operator",
)
ACCEPTED: Any = {"finished": "2026-11-01T10:00:00+00:00", "values": {"rdma-write-bandwidth": 393.1}}


def job_of(pool: Pool = POOL, made: str = "2026-11-01T09:00:00Z", common: Collection[str] = ()) -> dict[str, Any]:
    """The Job of a deployed pool, as the API server gives it."""
    spec = validation_spec(
        pool,
        options=ValidationOptions(),
        waits=Waits(),
        access=PoolAccess(namespace="system", account="validation", common=common),
        expected=expectations(pool),
    )
    found = named_job(pool, spec)
    found["metadata"] |= {"namespace": "system", "creationTimestamp": made, "uid": "u", "resourceVersion": "1"}
    template = found["spec"]["template"]
    template["metadata"]["labels"] |= {"controller-uid": "u", "batch.kubernetes.io/job-name": "j"}
    return {**found, "spec": {**spec, "selector": {}, "suspend": False}, "status": {"succeeded": 4}}


def report_map(pool: str = "ndh100") -> dict[str, Any]:
    data = {"accepted.json": json.dumps(ACCEPTED)}
    return {"metadata": {"namespace": "system", "name": f"{pool}-validation-report"}, "data": data}


def validation(pool: Pool = POOL) -> Deployed:
    return deployed([job_of(pool)], [report_map()])[pool.name]


def node(name: str, *, ready: str = "True", **spec: Any) -> dict[str, Any]:
    labels = {"agentpool": "ndh100", "kubernetes.io/hostname": f"host-{name}"}
    status = {
        "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletDown"}],
        "allocatable": {"rdma/shared_ib": "1k", "nvidia.com/gpu": "8"},
    }
    return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str, on: str, phase: str = "Running", volume: str = "", **requests: str) -> dict[str, Any]:
    asked = {key.replace("__", "/"): value for key, value in requests.items()}
    spec: dict[str, Any] = {"nodeName": on, "containers": [{"resources": {"requests": asked}}]}
    spec["volumes"] = [{"hostPath": {"path": volume}}] if volume else []
    return {"metadata": {"name": name, "namespace": "team"}, "spec": spec, "status": {"phase": phase}}


RUN = Run(
    validation=validation(),
    nodes=[node("a"), node("c")],
    expected=expected_of(validation(), 2, {}),
    before=validation().accepted,
    token="t",
)


def report(value: float, *checks: Any) -> Any:
    """The report of a validation of the pool."""
    return {
        "pool": "ndh100",
        "finished": "2026-11-22T10:00:00+00:00",
        "verdict": "warn",
        "coverage": {"summary": "2 of 2 nodes, 16 of 16 HCAs"},
        "nodes": {"a": {}, "b": {}},
        "rdma": [{"figure": "rdma-write-bandwidth", "value": value}],
        "networks": [],
        "thresholds": {},
        "checks": list(checks),
    }


def kubeconfig_in(folder: Path) -> Path:
    """A kubeconfig that reaches no server."""
    (folder / "kubeconfig").write_text(kubeconfig("https://x"))
    return folder / "kubeconfig"


def found_in(document: Any) -> rendering.Outcome:
    """The command's findings, from its output for a program."""
    pools = []
    for name, pool in document["pools"].items():
        compared, missing = pool["compared_with"] or {"finished": None, "figures": []}, pool["missing"]
        there: Any = {"expected": pool["pool_nodes"], "present": pool["nodes"], "missing": missing["nodes"]}
        found: Any = {key: pool[key] for key in ("nodes", "report", "why")}
        found["members"] = Membership(pool=name, **there, gone=missing["names"], reported=missing["seen"])
        found["left_out"] = [LeftOut(**left) for left in pool["left_out"]]
        found["changes"] = [Change(**figure) for figure in compared["figures"]]
        pools.append(rendering.Pool(name=name, before=compared["finished"], **found))
    return rendering.Outcome(pools=pools, cordoned=document["cordoned"], uncordoned=document["uncordoned"])
