from typing import Any

from rehearsal.machines.pods.status import ContainerView, PodView, Verdict, pod_status, running, terminated, waiting

NOW = "2026-11-21T12:00:00Z"
LATER = "2026-11-21T12:01:00Z"


def view(state: dict[str, Any], **fields: Any) -> ContainerView:
    return ContainerView(name=fields.pop("name", "main"), image="x", state=state, **fields)


def done(code: int) -> dict[str, Any]:
    return terminated(code, started=NOW, now=NOW)


def status(
    *containers: ContainerView,
    init: tuple[ContainerView, ...] = (),
    pod: dict[str, Any] | None = None,
    policy: str = "Never",
    **fields: Any,
) -> dict[str, Any]:
    now = fields.pop("now", NOW)
    given = {"pod_ip": "10.244.0.2", "host_ip": "10.224.0.4"} | fields
    seen = PodView(init=init, containers=containers, **given)
    return pod_status({"spec": {"restartPolicy": policy}} | (pod or {}), seen, now=now)


def condition(document: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(condition for condition in document["conditions"] if condition["type"] == kind)


def test_a_pod_is_pending_until_a_container_runs() -> None:
    assert status(view(waiting("ContainerCreating")))["phase"] == "Pending"
    assert status(view(running(NOW)))["phase"] == "Running"
    assert status(view(waiting("CrashLoopBackOff"), restarts=1))["phase"] == "Running"


def test_a_pod_has_succeeded_when_all_containers_have() -> None:
    assert status(view(done(0)), view(done(0), name="other"))["phase"] == "Succeeded"
    assert status(view(done(0)), view(done(1), name="other"))["phase"] == "Failed"
    assert status(view(done(0)), view(running(NOW), name="other"))["phase"] == "Running"


def test_a_container_that_will_be_started_again_leaves_the_pod_as_it_is() -> None:
    assert status(view(done(1)), policy="OnFailure")["phase"] == "Running"
    assert status(view(done(0)), policy="OnFailure")["phase"] == "Succeeded"
    assert status(view(done(0)), policy="Always")["phase"] == "Running"
    main = view(waiting("PodInitializing"))
    assert status(main, init=(view(done(1), name="init"),), policy="OnFailure")["phase"] == "Pending"


def test_a_failed_init_container_fails_the_pod_and_a_sidecar_does_not() -> None:
    main = view(waiting("PodInitializing"))
    assert status(main, init=(view(done(1), name="init"),))["phase"] == "Failed"
    assert status(view(done(0)), init=(view(done(143), name="side", sidecar=True),))["phase"] == "Succeeded"


def test_an_unready_pod_names_what_it_waits_for() -> None:
    document = status(view(waiting("PodInitializing")), init=(view(running(NOW), name="driver-validation"),))
    assert condition(document, "Initialized")["message"] == "containers with incomplete status: [driver-validation]"
    assert condition(document, "Ready")["message"] == "containers with unready status: [main]"


def test_a_verdict_fails_the_pod() -> None:
    document = status(view(running(NOW)), verdict=Verdict(reason="DeadlineExceeded", message="too late"))
    assert (document["phase"], document["reason"], document["message"]) == ("Failed", "DeadlineExceeded", "too late")


def test_a_condition_keeps_the_time_of_its_last_change_and_those_of_others_stay() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": NOW}
    first = status(view(waiting("ContainerCreating")), pod={"status": {"conditions": [scheduled]}})
    second = status(view(running(LATER), ready=True, started=True), pod={"status": first}, now=LATER)
    assert scheduled in second["conditions"]
    assert condition(second, "Initialized")["lastTransitionTime"] == NOW
    assert condition(second, "Ready")["lastTransitionTime"] == LATER
    assert second["startTime"] == NOW
