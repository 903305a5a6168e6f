"""Names of Services and pods, as programs of a pod find them."""

import os
import subprocess
from pathlib import Path
from typing import Any

from rehearsal.machines.network.names import Names
from rehearsal.tools.paths import PROJECT

NSLOOKUP = PROJECT / "rehearsal" / "machines" / "distribution" / "nslookup"


def endpoint(address: str, hostname: str | None = None, *, ready: bool = True) -> dict[str, Any]:
    named = {"hostname": hostname} if hostname else {}
    return {"addresses": [address], "conditions": {"ready": ready}, **named}


def endpoints_of(service: str, *endpoints: dict[str, Any]) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": service}
    return {"metadata": {"namespace": "training", "labels": labels}, "endpoints": list(endpoints)}


def look_up(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"REHEARSAL_NAMES": str(folder), "REHEARSAL_NAMESPACE": "training"}
    return subprocess.run([NSLOOKUP, name], env=environment, capture_output=True, text=True, check=False)


def test_a_service_and_the_hostnames_of_its_pods_resolve_by_every_form_of_the_name(tmp_path: Path) -> None:
    slices = [endpoints_of("train", endpoint("10.0.1.4", "train-0"), endpoint("10.0.1.5", "train-1"))]
    Names(tmp_path).keep(slices)
    for name in ("train", "train.training", "train.training.svc", "train.training.svc.cluster.local"):
        assert "Address 2: 10.0.1.5" in look_up(tmp_path, name).stdout
    assert look_up(tmp_path, "train-1.train").stdout.splitlines()[-1] == "Address 1: 10.0.1.5"


def test_a_pod_that_is_not_ready_or_is_gone_has_no_name(tmp_path: Path) -> None:
    names = Names(tmp_path)
    names.keep([endpoints_of("train", endpoint("10.0.1.4", "train-0"), endpoint("10.0.1.5", "train-1", ready=False))])
    assert look_up(tmp_path, "train-0.train").returncode == 0
    unready = look_up(tmp_path, "train-1.train")
    assert (unready.returncode, "can't resolve 'train-1.train'" in unready.stderr) == (1, True)
    names.keep([])
    assert look_up(tmp_path, "train-0.train").returncode == 1
