"""GPUs that an NVLink fabric has not taken in, and nodes of another rack, are named; a domain is measured by itself."""

from typing import Any

from aks_infiniband.validation.payload.collective import nvlink as collective
from aks_infiniband.validation.payload.collective.nccl_log import INFINIBAND_DIRECT, NVLINK, read_log, transport_name
from aks_infiniband.validation.payload.look.judge_nvlink import domains_of, judge_nvlink
from aks_infiniband.validation.payload.look.nvlink import parse

from tests.unit.field_recordings.recordings import excerpt

from .collective_runs import run

IN = "Completed, Success"


def facts(domain: str | None = "a.1", gpus: tuple[str, ...] = (IN,) * 4, said: str | None = None) -> Any:
    return {"nvlink": {"gpus": list(gpus), "domain": domain, "said": said}}


def verdicts(**nodes: Any) -> list[tuple[str, str, str | None]]:
    return [(check["check"], check["verdict"], check["node"]) for check in judge_nvlink(nodes, 4, 18)]


def smi(*states: str, cluster: str = "814d0001-0000-0000-0000-00000000b5b7") -> str:
    parts = [
        f"GPU 00000008:06:00.{n}\n    Product Name                          : NVIDIA GB300\n    Fabric\n"
        f"        State                             : {state}\n"
        f"        Status                            : {'Success' if state == 'Completed' else 'N/A'}\n"
        f"        CliqueId                          : 32766\n        ClusterUUID                       : {cluster}\n"
        "        Health\n            Bandwidth                     : N/A\n"
        "    Processes                             : None\n"
        for n, state in enumerate(states)
    ]
    return "\n==============NVSMI LOG==============\n\n" + "".join(parts)


def test_the_fabric_of_every_gpu_is_read() -> None:
    found = parse(smi("Completed", "Completed"))
    assert found == {"gpus": [IN, IN], "domain": "814d0001-0000-0000-0000-00000000b5b7.32766", "said": None}
    assert parse(smi("Completed", "In Progress"))["domain"] is None
    assert parse(smi("Completed", cluster="00000000-0000-0000-0000-000000000000"))["domain"] is None
    assert parse("no GPU here")["said"] == "nvidia-smi -q says nothing of a fabric"


def test_a_gpu_that_the_fabric_has_not_taken_in_fails_its_node() -> None:
    late = facts(None, (IN, IN, "In Progress, N/A", IN))
    assert verdicts(a=facts(), b=late) == [
        ("nvlink-fabric", "pass", "a"),
        ("nvlink-fabric", "fail", "b"),
        ("nvlink-domain", "pass", None),
    ]
    failed = next(check for check in judge_nvlink({"b": late}, 4, 18) if check["verdict"] == "fail")
    assert failed["measured"] == "GPU 2: In Progress, N/A"


def test_a_node_that_shares_its_domain_with_no_other_is_named() -> None:
    found = verdicts(a=facts(), b=facts(), c=facts("b.1"))
    assert found[-1] == ("nvlink-domain", "fail", "c")


def test_racks_that_are_not_full_are_warned_of() -> None:
    found = verdicts(a=facts(), b=facts(), c=facts("b.1"), d=facts("b.1"))
    assert found[-1] == ("nvlink-domain", "warn", None)


def test_as_many_domains_as_the_nodes_need_are_in_order() -> None:
    nodes = {f"n{n:02d}": facts("a.1" if n < 18 else "b.1") for n in range(20)}
    assert verdicts(**nodes)[-1] == ("nvlink-domain", "pass", None)
    assert {domain: len(names) for domain, names in domains_of(nodes).items()} == {"a.1": 18, "b.1": 2}


def test_a_node_without_nvidia_smi_is_not_measured_and_says_why() -> None:
    assert verdicts(a=facts(None, (), "nvidia-smi could not be started"))[0] == ("nvlink-fabric", "not measured", "a")


def test_nccls_own_lines_tell_that_nvlink_reaches_beyond_the_machine() -> None:
    assert transport_name(read_log(excerpt("mnnvl-gb200"))) == NVLINK


def test_what_nvidia_smi_says_of_a_machine_without_such_a_fabric_is_no_domain() -> None:
    found = parse(excerpt("nvidia-smi-h100-fabric"))
    assert (found["gpus"], found["domain"]) == ([IN], None)


PLAN: Any = {"thresholds": {"nvlink": {"unit": "GB/s", "better": "higher", "fail": 534.0, "basis": "measured"}}}


def judged(**changes: Any) -> list[tuple[str, str]]:
    one = run(**{"transports": {"aks-a": NVLINK, "aks-b": NVLINK}, **changes})
    return [(check["check"], check["verdict"]) for check in collective.judge([one], PLAN)]


def test_a_domain_is_judged_by_its_own_baseline() -> None:
    sizes = [
        {"bytes": 1 << 34, "iterations": 20, "seconds": 1.0, "algorithm_gb_per_s": 1, "bus_gb_per_s": 594.0, "wrong": 0}
    ]
    assert ("all-reduce-nvlink", "pass") in judged(sizes=sizes)
    slow = [{**sizes[0], "bus_gb_per_s": 300.0}]
    assert ("all-reduce-nvlink", "fail") in judged(sizes=slow)


def test_infiniband_in_its_place_is_told_and_not_judged() -> None:
    found = judged(transports={"aks-a": INFINIBAND_DIRECT, "aks-b": INFINIBAND_DIRECT})
    assert ("nvlink-transport", "fail") in found
    assert ("all-reduce-nvlink", "not measured") in found


def healthy(**lines: str) -> str:
    known = {"Summary": "Healthy", "Bandwidth": "Full", "Route Unhealthy": "False", "Incorrect Configuration": "None"}
    told = "".join(f"            {key:<30}: {value}\n" for key, value in {**known, **lines}.items())
    return smi("Completed").replace("            Bandwidth                     : N/A\n", told)


def test_a_fabric_that_is_complete_and_not_healthy_is_no_pass() -> None:
    assert parse(healthy())["gpus"] == [IN]
    ill = parse(healthy(Summary="Unhealthy", **{"Route Unhealthy": "True"}))
    assert ill["gpus"] == [f"{IN} (Summary: Unhealthy; Route Unhealthy: True)"]
    assert parse(healthy(Bandwidth="Degraded"))["domain"] is None
    nodes: Any = {"a": {"nvlink": ill}}
    assert [check["verdict"] for check in judge_nvlink(nodes, 1, 18)] == ["fail"]
