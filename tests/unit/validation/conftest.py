"""A machine's file systems as the payload reads them, and a pool to judge it by."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload import validate
from aks_infiniband.validation.payload.look import node as node_facts
from aks_infiniband.validation.payload.look.kernel import Roots
from aks_infiniband.validation.payload.programs import install as tools
from aks_infiniband.validation.payload.programs.install import Tools
from aks_infiniband.validation.payload.validate import Outcome
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.workload.environment import nccl_environment

from declared.pulumi_mocks import Deploy, Deployment
from tests.unit.validation.fake_api import FakeApi
from tests.unit.validation.healthy import POOL, write_machine
from tests.unit.validation.healthy import healthy as healthy_facts
from tests.unit.validation.one_validation import validated_by

IN_ONE_GROUP = {"placementGroupId": "f5a4", "vmScaleSetName": "aks-ndh100-33735988-vmss", "vmSize": "any"}


@pytest.fixture
def pool() -> Pool:
    return POOL


@pytest.fixture
def expected(pool: Pool) -> Any:
    return expectations(pool)


@pytest.fixture
def thresholds(expected: Any) -> Any:
    return expected["thresholds"]


@pytest.fixture
def asked() -> list[tuple[str, ...]]:
    """The cluster's requests from a program with one Validation."""
    return []


@pytest.fixture
def validated(
    deploy: Deploy, pool: Pool, expected: Any, asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Deployment]:
    """Run a program with one Validation; its result is the report."""
    return validated_by(deploy, pool, expected, asked, monkeypatch)


@pytest.fixture
def healthy() -> Callable[[], dict[str, Any]]:
    """Facts of a node that is all right; change one thing and judge again."""
    return healthy_facts


@pytest.fixture
def machine(tmp_path: Path) -> Roots:
    """An ND H100 v5 node as one of its pods sees it."""
    return write_machine(tmp_path)


@pytest.fixture
def fake() -> Any:
    with FakeApi() as api:
        api.config_maps = {"report": {}}
        api.nodes = [{"metadata": {"name": name, "labels": {}}, "status": {}} for name in ("n0", "n1")]
        yield api


@pytest.fixture
def nothing_is_measured(monkeypatch: Any) -> None:
    """No tool is looked for, installed or run; tests/rehearsal/validation measures."""
    monkeypatch.setattr(tools, "ensure", lambda *_: Tools((), (), None))
    monkeypatch.setattr(tools, "versions", lambda *_: {})
    active = [{"state": "PORT_ACTIVE", "link_layer": "InfiniBand"}]
    monkeypatch.setattr(
        node_facts, "ask_libibverbs", lambda *_: {"ports": {f"mlx5_ib{n}": active for n in range(8)}, "said": None}
    )
    monkeypatch.setattr(validate, "measure", lambda *_, **__: Outcome())


@pytest.fixture
def run_pod(fake: Any, machine: Any, expected: Any, tmp_path: Any, nothing_is_measured: None) -> Any:
    """Run one pod's main; returns exit code and termination message."""
    (tmp_path / "metadata").write_text(json.dumps(IN_ONE_GROUP))
    expectations = tmp_path / "expectations.json"
    expectations.write_text(json.dumps(expected))

    def run(
        index: Any,
        node: Any,
        *,
        mode: Any = "enforce",
        timeout: Any = 0.2,
        linger: Any = 0,
        run: Any = "uid-1",
        measure: Any = 5,
        environment: Any = None,
        program: Any = validate,
    ) -> Any:
        log = tmp_path / f"termination-{node}"
        arguments = {
            "namespace": "ns",
            "report": "report",
            "measure-seconds": measure,
            "scratch": tmp_path,
            "expectations": expectations,
            "mode": mode,
            "poll-seconds": 0.01,
            "timeout-seconds": timeout,
            "linger-seconds": linger,
            "termination-log": log,
            "sys": machine.sys,
            "dev": machine.dev,
            "proc": machine.proc,
            "shm": "/",
            "metadata": (tmp_path / "metadata").as_uri(),
            "api": fake.url,
        }
        argv = [part for key, value in arguments.items() for part in (f"--{key}", str(value))]
        pod = {"JOB_UID": run, "JOB_COMPLETION_INDEX": str(index), "NODE_NAME": node, **nccl_environment()}
        pod |= {"POD_UID": f"pod-{index}", "POD_IP": f"10.244.0.{index}"}
        return program.main(argv, pod | (environment or {})), log.read_text()

    return run
