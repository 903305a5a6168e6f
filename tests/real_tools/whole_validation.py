"""One validation of two nodes in the virtual machine: the Job's own container, with a small API on loopback."""

import json
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation import payload
from aks_infiniband.validation.job_parts import API_ARGUMENTS, PODINFO
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.payload.say.checks import Check
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.program import HOME
from aks_infiniband.validation.validation_job import METADATA, PoolAccess, validation_spec

from rehearsal.real_tools.machine import HCAS, HOST, POD_ADDRESSES, SHARE, Ended, Machine
from tests.some_pools import HBV4, pool
from tests.unit.validation.fake_api import FakeApi

NODES = ("node-a", "node-b")
SECONDS = 1800
"""For one validation, however busy this machine is; an idle one needs thirty."""
PAYLOAD = "/run/payload"
_LINK_GBPS = 10
"""Soft-RoCE's rate for an interface without a known rate."""


class Outcome(NamedTuple):
    """The report that a validation left, and how its containers ended."""

    report: Any
    ended: tuple[Ended, ...]

    @property
    def bad(self) -> list[Check]:
        return [check for check in self.report["checks"] if check["verdict"] not in ("pass", "not judged")]

    @property
    def failed(self) -> set[tuple[str | None, str | None]]:
        """Node and HCA of each measurement of RDMA that failed."""
        return {(check["node"], check["device"]) for check in self.bad if _is_figure(check, "fail")}

    @property
    def causes(self) -> str:
        return "\n".join(str(check["cause"]) for check in self.bad if _is_figure(check, "fail"))


def _is_figure(check: Check, verdict: str) -> bool:
    return check["check"].startswith("rdma-") and check["check"] != "rdma-devices" and check["verdict"] == verdict


def share(folder: Path) -> None:
    """Fill a folder with what the machine finds below SHARE."""
    shutil.copytree(Path(payload.__file__).parent, folder / "payload", ignore=shutil.ignore_patterns("__pycache__"))


def compile_payload(machine: Machine) -> None:
    """Copy the program into the machine and compile it there, once for all pods: they write no bytecode."""
    program = f"cp -r {SHARE}/payload {PAYLOAD} && python3 -m compileall -q {PAYLOAD}"
    ended = machine.run(["sh", "-c", program], seconds=SECONDS)
    assert ended.code == 0, ended.output


def _container(seconds: int, tries: int) -> tuple[Any, Any]:
    """The validation's container for a pool of two machines like the virtual one's nodes, and what is expected."""
    infiniband = replace(SIZES[HBV4].infiniband, hca_count=len(HCAS[0]), rate_gbps=_LINK_GBPS)
    of_size = pool(HBV4, name="soft")
    two = of_size.model_copy(update={"size": replace(of_size.size, infiniband=infiniband)})
    expected: Any = {**expectations(two, tries=tries, error_counters="off"), "thresholds": {}}
    spec = validation_spec(
        two,
        options=ValidationOptions(mode="enforce", timeout_seconds=seconds, tries=tries, error_counters="off"),
        waits=Waits(poll_seconds=1, stable_seconds=1, timeout_seconds=60),
        access=PoolAccess(namespace="system", account="validation"),
        expected=expected,
    )
    (container,) = spec["template"]["spec"]["containers"]
    return container, expected


class Lane(NamedTuple):
    """A running machine, and the folder that it finds below SHARE."""

    machine: Machine
    folder: Path

    def validate(
        self, faults: Mapping[int, Mapping[str, str]] | None = None, *, seconds: int = SECONDS, tries: int = 3
    ) -> Outcome:
        """Run the containers of both pods, and wait for their end.

        faults: by pod, the variables that guest/shared/pod and guest/shared/tools/tool know. seconds: the stack file's
        validation.timeoutSeconds, of which each tool and each connection has a share. tries: its validation.tries.
        """
        container, expected = _container(seconds, tries)
        (self.folder / "podinfo").mkdir(exist_ok=True)
        (self.folder / "podinfo/expectations.json").write_text(json.dumps(expected))
        mounts = {PAYLOAD: HOME, f"{SHARE}/podinfo": PODINFO}
        settings = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
        settings["MOUNTS"] = " ".join(f"{source}:{place}" for source, place in mounts.items())
        with FakeApi() as api:
            api.config_maps["soft-validation-report"] = {}
            arguments = [argument for argument in container["args"] if argument not in API_ARGUMENTS]
            arguments[arguments.index(METADATA)] = f"http://{HOST}:1/"  # a port without a server
            arguments += ["--termination-log", "/dev/null", "--api", f"http://{HOST}:{api.server.server_port}"]
            command = [*container["command"], *arguments]

            def run(index: int) -> Ended:
                identity = {
                    **{"JOB_UID": "run-1", "JOB_COMPLETION_INDEX": str(index), "POD_UID": f"pod-{index}"},
                    **{"POD_IP": POD_ADDRESSES[index], "NODE_NAME": NODES[index]},
                }
                variables = {**settings, **identity, **(faults or {}).get(index, {})}
                return self.machine.run_in_pod(index, command, environment=variables, seconds=SECONDS)

            with ThreadPoolExecutor() as pods:
                ended = tuple(pods.map(run, range(len(NODES))))
            found = api.texts("soft-validation-report").get("report.json.gz")
        assert found, "\n\n".join(one.output for one in ended)
        return Outcome(json.loads(found), ended)

    @contextmanager
    def while_(self, fault: str, undone: str) -> Iterator[None]:
        """Have a fault of the machine itself while the block runs. fault, undone: commands of its shell."""
        self._do(fault)
        try:
            yield
        finally:
            self._do(undone)

    def _do(self, command: str) -> None:
        ended = self.machine.run(["sh", "-ec", command])
        assert ended.code == 0, ended.output
