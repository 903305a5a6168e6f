"""The product's answer to a text, and its correctness."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from aks_infiniband.diagnosis.azure import azure_findings, is_transient
from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import View
from aks_infiniband.validation.payload.collective.failures import CAUSE, explained
from aks_infiniband.workload.environment_away import taken_away

from tests.held_out.clusters import examined

Verdict = Literal["right", "unknown", "wrong"]
FILES: Final = ("ranks", "pods", "azure", "environment", "clusters")
_LAST: Final = "x\nNCCL error: unhandled system error, NCCL version 2.28.9"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a case."""

    file: str
    case: Mapping[str, Any]
    said: str
    verdict: Verdict


def answers() -> Iterator[Answer]:
    """Answers to every case."""
    ask = {"ranks": _rank, "pods": _pod, "azure": _azure, "environment": _environment, "clusters": _cluster}
    for file in FILES:
        for case in yaml.safe_load((Path(__file__).parent / f"{file}.yaml").read_text(encoding="utf-8")):
            said, otherwise = ask[file](case)
            yield Answer(file, case, said or otherwise, _verdict(case, said, otherwise))


def _verdict(case: Mapping[str, Any], said: str, otherwise: str) -> Verdict:
    if otherwise:
        return "wrong"
    wanted = case["says"]
    if not wanted:
        return "wrong" if said else "right"
    if isinstance(wanted, list):
        return "right" if said else "unknown"
    return "right" if wanted.casefold() in said.casefold() else "wrong" if said else "unknown"


def _rank(case: Mapping[str, Any]) -> tuple[str, str]:
    found = explained("exit code 1", own=True, output=_LAST, warned=[case["words"]])
    known = "" if found["cause"].startswith("its last words") else found["cause"]
    unlike = f"part {found['part']}: {found['cause']}" if found["part"] != case["part"] else ""
    # A rank whose words are not explained counts as one that failed first.
    return known, "" if not known and found["part"] == CAUSE and case["says"] is not None else unlike


def _pod(case: Mapping[str, Any]) -> tuple[str, str]:
    words, namespace = case["words"], "gpu-operator" if case["whose"] == "driver" else "apps"
    metadata = {"name": "p", "namespace": namespace}
    pod: dict[str, Any] = {"metadata": metadata, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
    events: list[Mapping[str, Any]] = []
    logs: dict[str, str] = {}
    reasons = {"sandbox": "FailedCreatePodSandBox", "claim": "FailedPrepareDynamicResources"}
    if case["whose"] in reasons:
        pod["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]}
        about = {"kind": "Pod", **metadata}
        events.append({"reason": reasons[case["whose"]], "message": words, "involvedObject": about})
    else:
        by_runtime = case["whose"] == "runtime"
        waiting = {"reason": "CreateContainerError" if by_runtime else "CrashLoopBackOff", "message": "back-off"}
        status: dict[str, Any] = {"name": "c", "ready": False, "state": {"waiting": waiting}}
        if by_runtime:
            waiting["message"] = words
        else:
            logs[f"{namespace}/p"] = words
            status["lastState"] = {"terminated": {"exitCode": 1, "reason": "Error"}}
        pod["status"] = {"phase": "Running", "containerStatuses": [status]}
    (found,) = pod_findings([pod], View(pods=[pod], events=events, logs=logs))
    said = found.cause or ""
    return "" if said == "the container runtime refused the container" else said, ""


def _environment(case: Mapping[str, Any]) -> tuple[str, str]:
    named = [variable.partition("=")[0] for variable, _, _ in taken_away(case["words"], gpus=case.get("gpus", True))]
    said, wanted = ", ".join(sorted(named)), ", ".join(sorted(case["says"]))
    return said, "" if said == wanted or not said else f"it names {said}"


def _cluster(case: Mapping[str, Any]) -> tuple[str, str]:
    found = examined(case)
    said = " ".join(f"{each.evidence} {each.cause} {each.fix} {each.command}" for each in found)
    unlike = [*sorted({each.symptom.id for each in found} ^ set(case["says"]))] if found else []
    unlike += [words for words in case.get("never", []) if words in said]
    unlike += [case["cause"]] if found and case.get("cause", "") not in said else []
    return said if case["says"] else "", ", ".join(unlike)


def _azure(case: Mapping[str, Any]) -> tuple[str, str]:
    findings = azure_findings(case["words"], {})
    again = is_transient(case["words"])
    unlike = "" if again is case["again"] else "it is tried again" if again else "it is not tried again"
    return str(findings[0].cause) if findings else "", unlike if findings or again else ""
