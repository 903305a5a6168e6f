"""The kinds of cases, and the outcome of a case of each."""

import os
import subprocess
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from aks_infiniband.resources.registry import Registry
from aks_infiniband.workload import jobs
from aks_infiniband.workload.checked import Workload
from aks_infiniband.workload.environment import LIST_HCAS, nccl_environment
from aks_infiniband.workload.pods import config_maps, pod_template_fragment
from aks_infiniband.workload.sample_job import sample_job

from tests.cases import Case, changes, plain, replaced
from tests.some_pools import pool

_FILES: Final = (
    *("require_infiniband.sh", "require_ipoib.sh", "mpi_worker.sh"),
    *("sample/show_infiniband.py", "sample/all_reduce.py"),
)
"""Programs that stand in objects, in whose place their names stand in an outcome."""


def outcome_of_pool(case: Case) -> Any:
    """The template of a pool's pods, and what becomes their environment. `pool` has the fields of the pool, `template`
    the options of its template. The outcome has the differences from the usual pool; for that pool, all.
    """
    return _differing(_pods, case)


def _pods(case: Case) -> dict[str, Any]:
    options = {**case.get("template", {})}
    of_pool = _pool(case)
    try:
        pods = pod_template_fragment(of_pool, **options)
    except ValueError as error:
        return {"refused": str(error)}
    maps = config_maps(of_pool, **({"topology": options["topology"]} if "topology" in options else {}))
    shown = {name: {key: _short(text) for key, text in data.items()} for name, data in maps.items()}
    return {"pods": pods, "config maps": shown}


def _short(text: str) -> str:
    return text if len(text) < 100 else f"{text.splitlines()[0]}…"


def _pool(case: Case) -> Any:
    return pool(**_arguments(case.get("pool", {})))


def _arguments(case: Case) -> dict[str, Any]:
    """Arguments of Python: lists are tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in case.items()}


def _differing(family: Callable[[Case], Any], case: Case) -> Any:
    """All of a usual case, which has at most the kind of a job; of another, what differs from it."""
    usual = {"job": case["job"]} if "job" in case else {}
    found = _named(plain(family(case)))
    return found if case == usual else changes(_named(plain(family(usual))), found)


def _named(value: Any) -> Any:
    """A document with the names of programs in place of them."""
    value = replaced(value, LIST_HCAS, "{LIST_HCAS}")
    for name in _FILES:
        text = (resources.files("aks_infiniband.workload") / name).read_text(encoding="utf-8")
        value = replaced(value, text, f"{{{name}}}")
    return value


def outcome_of_sample(case: Case) -> Any:
    """The sample Job of a pool: what differs from that of the usual pool."""
    return _differing(_sample, case)


def _sample(case: Case) -> dict[str, Any]:
    sample = sample_job(_pool(case), registry=Registry(**case.get("registry", {})))
    return {item["kind"]: item for item in sample["items"]}


JOBS: Final[Mapping[str, Callable[[Workload], jobs.Documents]]] = {
    "indexed_job": lambda asked: jobs.indexed_job(asked, ["train"]),
    "job_set": lambda asked: jobs.job_set(asked, ["train"]),
    "train_job": lambda asked: jobs.train_job(asked, ["train"]),
    "pytorch_job": lambda asked: jobs.pytorch_job(asked, ["train"]),
    "mpi_job": lambda asked: jobs.mpi_job(asked, ["mpirun", "train"]),
    "vllm_server": lambda asked: jobs.vllm_server(asked, model="a/model"),
    "tcp_job": lambda asked: jobs.tcp_job(asked, ["serve"]),
}


def outcome_of_job(case: Case) -> Any:
    """The documents of a `job` for two machines: what differs from the usual workload's."""
    return _differing(_documents, case)


def _documents(case: Case) -> Any:
    about: dict[str, Any] = {
        "name": "train",
        "namespace": "training",
        "machines": 2,
        "image": "ours",
        "requests": {"cpu": "80"},
    }
    about |= {"template": pod_template_fragment(_pool(case)), **case.get("workload", {})}
    try:
        return JOBS[case["job"]](Workload(**about))
    except ValueError as error:
        return {"refused": str(error)}


def outcome_of_environment(case: Case) -> dict[str, str]:
    """NCCL's environment for a transport."""
    return nccl_environment(**_arguments(case))


def outcome_of_check(case: Case) -> dict[str, Any]:
    """The end of the check before a program, on a machine with two links that are ACTIVE, an Ethernet device, and root
    with IPC_LOCK. `files` has other contents by path, or null for none.
    """
    files = {
        **{f"sys/infiniband/{name}/ports/1/link_layer": "InfiniBand" for name in ("mlx5_0", "mlx5_1")},
        **{f"sys/infiniband/{name}/ports/1/state": "4: ACTIVE" for name in ("mlx5_0", "mlx5_1")},
        **{"sys/infiniband/mlx5_2/ports/1/link_layer": "Ethernet", "sys/infiniband/mlx5_2/ports/1/state": "1: DOWN"},
        **{"dev/uverbs0": "", "sys/net/net1/ifindex": "3", "status": "CapEff:\t00000000a80465fb"},
        "limits": "Max locked memory         65536                65536                bytes",
        **case.get("files", {}),
    }
    script = (resources.files("aks_infiniband.workload") / case.get("script", "require_infiniband.sh")).read_text()
    with TemporaryDirectory() as folder:
        machine = Path(folder)
        for name, text in files.items():
            if text is not None:
                (machine / name).parent.mkdir(parents=True, exist_ok=True)
                (machine / name).write_text(f"{text}\n")
        places = {"SYS_CLASS": "sys", "DEVICES": "dev", "LIMITS": "limits", "STATUS": "status"}
        places |= {"CONFIG": "nccl.conf", "TOLD": "told", "GPUS": "dev"}
        environment = {"PATH": os.environ["PATH"], **{name: f"{machine}/{at}" for name, at in places.items()}}
        (machine / "dev").mkdir(exist_ok=True)
        done = subprocess.run(
            ["sh", "-c", script, "sh", *case.get("arguments", ())],
            env={**environment, **case.get("environment", {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        told = (machine / "told").read_text() if done.returncode else done.stderr
        assert told == done.stderr, "kubectl describe shows it too"
        return {"code": done.returncode, "said": (done.stderr or done.stdout).rstrip().replace(f"{folder}/", "/")}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "pods": outcome_of_pool,
    "sample": outcome_of_sample,
    "job": outcome_of_job,
    "environment": outcome_of_environment,
    "check": outcome_of_check,
}
"""By the first word of a file's name, what gives the outcome of a case."""
