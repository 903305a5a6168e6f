"""The hook: whom it looks for, and that it never stands in the way."""

import asyncio
import threading
import time
from typing import Any

import pulumi
import pytest
from aks_infiniband import diagnosis
from aks_infiniband.access.looking import within_limit
from aks_infiniband.diagnosis.collect import collect
from aks_infiniband.diagnosis.error_hook import wait_of
from aks_infiniband.diagnosis.view import View

UNREACHABLE = """
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
"""


def failed(inputs: Any, errors: Any = ("broken",), **changes: Any) -> Any:
    return pulumi.ErrorHookArgs(
        urn="urn", id="id", name="logical", type="t", errors=list(errors), failed_operation="create",
        **({"new_inputs": inputs} | changes),
    )  # fmt: skip


def test_a_kubernetes_object_is_named_by_its_metadata() -> None:
    wait = wait_of(failed({"metadata": {"name": "job-1", "namespace": "ns"}}), "job")
    assert (wait.name, wait.namespace, wait.errors) == ("job-1", "ns", ("broken",))


def test_a_cluster_scoped_policy_has_no_namespace_whatever_the_provider_puts_in_its_inputs() -> None:
    wait = wait_of(failed({"metadata": {"name": "cluster-policy", "namespace": "default"}}), "cluster-policy")
    assert (wait.name, wait.namespace) == ("cluster-policy", "")


def test_a_namespace_is_named_without_the_one_that_the_provider_puts_in_its_inputs() -> None:
    wait = wait_of(failed({"metadata": {"name": "network-operator", "namespace": "default"}}), "namespace")
    assert (wait.name, wait.namespace) == ("network-operator", "")


def test_a_release_is_named_by_its_inputs() -> None:
    wait = wait_of(failed({"name": "operator", "namespace": "ns"}), "release")
    assert (wait.name, wait.namespace) == ("operator", "ns")


def test_what_has_no_name_of_its_own_has_the_programs() -> None:
    assert wait_of(failed({}), "job").name == "logical"


def test_a_delete_is_named_by_what_was_there() -> None:
    assert wait_of(failed(None, old_inputs={"metadata": {"name": "old"}}), "job").name == "old"


@pytest.fixture
def explained(monkeypatch: Any, event_loop: asyncio.AbstractEventLoop) -> Any:
    """Run a hook as the engine does; returns what it answered and what it said."""

    def run(args: Any, *, waiting_for: Any = "job", kubeconfig: Any = UNREACHABLE) -> Any:
        said = []
        monkeypatch.setattr(pulumi.log, "error", lambda text, **_: said.append(text))
        result = {}

        class Nothing(pulumi.runtime.Mocks):
            def new_resource(self, args: Any) -> Any:
                return args.name, args.inputs

            def call(self, args: Any) -> Any:
                return {}

        pulumi.runtime.set_mocks(Nothing(), preview=False)

        async def program() -> Any:
            binding = diagnosis.on_error("job", waiting_for=waiting_for, kubeconfig=kubeconfig)
            assert binding.on_error
            (hook,) = binding.on_error
            for _ in range(20):  # the kubeconfig is an Output: let it resolve
                await asyncio.sleep(0.01)
            answer: Any = hook(args)
            result["retry"] = await answer

        run_program: Any = pulumi.runtime.test
        run_program(program)()
        return result["retry"], "\n".join(said)

    return run


def test_an_unreachable_cluster_is_said_and_nothing_is_raised(explained: Any) -> None:
    retry, said = explained(failed({"metadata": {"name": "job-1", "namespace": "ns"}}))
    assert retry is False
    assert "Waited in vain for job ns/job-1" in said
    assert "could not be read: nodes:" in said


def test_without_a_kubeconfig_the_hook_says_so(explained: Any) -> None:
    retry, said = explained(failed({"metadata": {"name": "j"}}), kubeconfig=None)
    assert retry is False
    assert "its kubeconfig is not known" in said


def test_a_look_that_takes_too_long_is_left_behind(explained: Any, monkeypatch: Any) -> None:
    def hang(*_: Any, **__: Any) -> Any:
        threading.Event().wait(3)
        return View()

    monkeypatch.setattr("aks_infiniband.diagnosis.collect.collect", hang)
    monkeypatch.setattr("aks_infiniband.diagnosis.error_hook.LIMIT_SECONDS", 0.2)
    _, said = explained(failed({"metadata": {"name": "j"}}))
    assert "no answer within 0.2 s" in said


@pytest.mark.parametrize("kubeconfig", ["", "{", "clusters: 3", "[]"])
def test_a_broken_kubeconfig_is_something_that_could_not_be_read(kubeconfig: Any) -> None:
    view = collect(kubeconfig, ["ns"], limit_seconds=1)
    assert [text.partition(":")[0] for text in view.unread] == ["the kubeconfig"]


def test_no_time_left_is_said_for_everything_that_was_not_read() -> None:
    view = collect(UNREACHABLE, ["ns"], limit_seconds=-1)
    assert "nodes: no time left" in view.unread
    assert "pods in ns: no time left" in view.unread


def test_a_credential_plugin_is_asked_in_the_version_that_is_understood(tmp_path: Any) -> None:
    script = tmp_path / "plugin"
    script.write_text('#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >&2\nexit 1\n')
    script.chmod(0o755)
    plugin = f'{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: "{script}"}}}}'
    view = collect(UNREACHABLE.replace("{token: t}", plugin), [], limit_seconds=5)
    assert any("client.authentication.k8s.io/v1beta1" in text for text in view.unread)


def test_looks_at_the_cluster_follow_one_another() -> None:
    """Two threads that read answers for the first time at once would end the program."""
    looking, most = 0, 0

    def look() -> bool:
        nonlocal looking, most
        looking += 1
        most = max(most, looking)
        time.sleep(0.05)
        looking -= 1
        return True

    async def together() -> list[bool | None]:
        return await asyncio.gather(*(within_limit(look, 20) for _ in range(3)))

    assert asyncio.run(together()) == [True] * 3
    assert most == 1


def test_what_others_wrote_is_shown_and_not_sent_to_the_terminal(explained: Any) -> None:
    _, text = explained(failed({"metadata": {"name": "job-\x1b[2J"}}), kubeconfig=None)
    assert r"job-\x1b[2J" in text
    assert "\x1b" not in text
