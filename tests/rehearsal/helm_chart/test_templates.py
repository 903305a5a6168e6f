"""Every document of the chart is what the components declare for the same pools."""

import base64
import gzip
import json
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import NicDriver

from chart.pools import MODES
from tests.rehearsal.helm_chart.same import Documents, of_components, rendered

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

MIRROR: Final = {"images": "mirror.example/ours", "pullSecret": "mirror"}
COUNTS: Final = (2, 3, 16, 17, 33, 100)
_NAMED: Final = {
    "lightCheck": {"schedule": "17 * * * *"},
    "observability": {"prometheus": "kube-prometheus", "labels": {"release": "prometheus"}},
}


def pools() -> Iterator[dict[str, Any]]:
    """A pool of every size in every mode, with each further key now and then."""
    counts, drivers = cycle(COUNTS), cycle([None, *get_args(NicDriver)])
    taints = cycle([(), ("sku=gpu:NoSchedule",), ("alone:NoExecute", "a=b:PreferNoSchedule")])
    selectors = cycle([None, {"example.com/fabric": "a"}, {"example.com/fabric": "a", "agentpool": "b"}, None])
    classes = cycle([None, "theirs.example.com", "infiniband.dra.net"])
    for number, name in enumerate(SIZES):
        owners = cycle([None, *(SIZES[name].gpu_driver_owners if SIZES[name].accelerator else ())])
        for mode in MODES:
            given: dict[str, Any] = {
                "name": f"{'abcde'[MODES.index(mode)]}{number}",
                "vmSize": name,
                "count": next(counts),
                "mode": mode,
                "taints": list(next(taints)),
                "gpuDriver": next(owners),
                "nicDriver": next(drivers),
                "nodeSelector": next(selectors),
                "deviceClass": next(classes) if mode == "dra" else None,
            }
            yield {key: value for key, value in given.items() if value}


def parts(documents: Documents) -> list[str]:
    return sorted(" ".join(key) for key in documents)


def without_topologies_of_others(chart: Documents, components: Documents) -> Documents:
    """The chart has the NCCL topologies of all sizes in one ConfigMap."""
    found = dict(chart)
    for key, document in chart.items():
        if key[:2] == ("ConfigMap", "validation"):
            theirs = components[key]["data"]
            own = {name: text for name, text in document["data"].items() if name in theirs or "topology" not in name}
            found[key] = {**document, "data": own}
    return found


CASES: Final[dict[str, dict[str, Any]]] = {
    "every size in every mode": {"pools": list(pools()), **_NAMED},
    "a mirror": {"pools": list(pools())[:60:7], "registry": MIRROR, **_NAMED},
    "a warning, with an image": {
        "pools": list(pools())[::9],
        "validation": {"mode": "warn", "image": "own.example/image:1"},
        "observability": {"prometheus": "azure"},
    },
    "an image": {"pools": list(pools())[::7], "validation": {"image": "own.example/image:1"}, "registry": {}},
    "nothing but the light check": {
        "pools": [pool for pool in pools() if pool["mode"] in ("rdma-shared", "sriov")][::5],
        "validation": {"mode": "off"},
        "lightCheck": {"schedule": "1 1 * * 1"},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_each_document_is_what_the_components_declare(case: str, helm: Path, archive: Path, tmp_path: Path) -> None:
    values = CASES[case]
    ours, theirs = rendered(helm, archive, values, tmp_path), of_components(values)
    assert parts(ours) == parts(theirs)
    ours = without_topologies_of_others(ours, theirs)
    assert [key for key in ours if ours[key] != theirs[key]] == []


def test_a_release_of_many_pools_fits_the_secret_in_which_helm_keeps_it(
    helm: Path, archive: Path, tmp_path: Path
) -> None:
    """A Secret holds at most a mebibyte. Helm puts the chart's files there in Base64, and all that they became."""
    (tmp_path / "values.yaml").write_text(yaml.safe_dump({"pools": list(pools())[:60], **_NAMED}))
    command = [str(helm), "template", "checks", str(archive), "--values", str(tmp_path / "values.yaml")]
    manifest = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with tarfile.open(archive) as opened:
        members = [opened.extractfile(member) for member in opened.getmembers()]
        files = [base64.b64encode(file.read()).decode() for file in members if file]
    kept = gzip.compress(json.dumps({"files": files, "manifest": manifest}).encode())
    assert len(base64.b64encode(kept)) < 1 << 20


POOL: Final = {"name": "a", "vmSize": "Standard_HB176rs_v4", "count": 2}
REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "a size": ({"pools": [{**POOL, "vmSize": "Standard_D2s_v5"}]}, "vmSize"),
    "one node": ({"pools": [{**POOL, "count": 1}]}, "minimum: got 1, want 2"),
    "ipoib": ({"pools": [{**POOL, "mode": "ipoib"}]}, "mode"),
    "no pool": ({}, "pools"),
    "a key": ({"pools": [{**POOL, "size": "x"}]}, "'size' not allowed"),
    "a name": ({"pools": [{**POOL, "name": "Big"}]}, "name"),
    "a schedule": ({"pools": [POOL], "lightCheck": {"schedule": "hourly"}}, "schedule"),
    "which node is idle": (
        {"pools": [{**POOL, "rdmaResource": "rdma/theirs"}], "lightCheck": {"schedule": "1 * * * *"}},
        "only rdma/shared_ib says which node is idle",
    ),
    "no idle pool": (
        {"pools": [{**POOL, "mode": "driver-only"}], "lightCheck": {"schedule": "1 * * * *"}},
        "every pool has mode driver-only",
    ),
    "claims": (
        {
            "pools": [{**POOL, "mode": "dra"}],
            "validation": {"mode": "off"},
            "lightCheck": {"schedule": "1 * * * *"},
        },
        "validation.mode must be enforce or warn",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_values_that_cannot_be_are_refused_by_name(case: str, helm: Path, archive: Path, tmp_path: Path) -> None:
    values, words = REFUSED[case]
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    done = subprocess.run(
        [helm, "template", "checks", archive, "--values", file], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert words in done.stderr, done.stderr
