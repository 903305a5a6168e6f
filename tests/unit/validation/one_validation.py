"""A program with one Validation, whose Job has ended and has left a report."""

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest
from aks_infiniband import diagnosis
from aks_infiniband.validation import Validation, ValidationArgs, ValidationOptions
from aks_infiniband.validation.payload.report.document import build_report
from aks_infiniband.validation.payload.report.kept import evidence_of
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband.validation.payload.talk.config_maps import packed

from declared.pulumi_mocks import KUBECONFIG, Deploy, Deployment, Registration

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
PASSED = make_check("x", "pass", expected=1, measured=1)
RUN = "uid-of-ndh100-validate"


def pod_that_said(message: str, run: str = RUN) -> Any:
    """A pod of a Job, with its termination message."""
    owner = {"kind": "Job", "uid": run, "controller": True}
    state = {"terminated": {"exitCode": 0, "message": message}}
    return {"metadata": {"ownerReferences": [owner]}, "status": {"containerStatuses": [{"state": state}]}}


def validated_by(
    deploy: Deploy, pool: Any, expected: Any, asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Deployment]:
    """Run a program with one Validation; its result is the report.

    `asked`: gets the requests to the cluster: namespace, uid of a Job, name of its ConfigMap.
    """

    def run(
        mode: Any = "enforce",
        *,
        report: Any = "passing",
        said: Any = None,
        preview: bool = False,
        key: str = "report.json.gz",
        kept: str = "",
        **changes: Any,
    ) -> Deployment:
        if report == "passing":
            report = build_report({"run": RUN, "mode": mode, "finished": "t"}, {}, [PASSED], expected, {})
        # The hook that reads the cluster is the engine's to call; here the program reads when nothing is kept.
        line = evidence_of(report or {}) if said is None else said
        stored = packed({} if report is None else {key: json.dumps(report)})

        async def job_results(_: str, *which: str) -> Any:
            asked.append(which)
            return [pod_that_said(line)], stored

        monkeypatch.setattr(diagnosis, "job_results", job_results)

        def program() -> Any:
            cluster = k8s.core.v1.Namespace("cluster")
            pool_ready = k8s.core.v1.Namespace("pool-ready")
            validation = ValidationOptions(mode=mode, image="image:1", timeout_seconds=600)
            given: dict[str, Any] = {"options": validation, "kubeconfig": KUBECONFIG} | changes
            options = pulumi.ResourceOptions(depends_on=[pool_ready], deleted_with=cluster)
            return Validation("ndh100", args=ValidationArgs(pool=pool, **given), opts=options).report

        return deploy(program, preview=preview, outputs={"pulumi:index:Stash": {"output": kept}} if kept else {})

    return run


def inside(deployment: Deployment) -> list[Registration]:
    """The component's objects in the cluster."""
    helpers = ("cluster", "pool-ready")
    return [
        made for made in deployment.registrations if made.type.startswith("kubernetes:") and made.name not in helpers
    ]
