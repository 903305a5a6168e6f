"""Pods of Jobs are executed as a kubelet would execute them, on a real API server."""

import time
from pathlib import Path

import psutil
import pytest
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import CascadeType, PatchType

from .conftest import Rehearsed
from .jobs import NODE, ON_NODE, ended, events, finished, only_pod, output, python

RESOURCE = "rdma/of_a_test"


def test_a_container_runs_with_its_environment_and_files(cluster: Rehearsed) -> None:
    cluster.config_map("payload", {"module.py": "print('hello from', __import__('os').environ['NODE'])"})
    cluster.job(
        "run",
        {
            "command": ["python3", "-m", "package.module"],
            "env": [
                {"name": "PYTHONPATH", "value": "/opt/payload"},
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            ],
            "volumeMounts": [{"name": "payload", "mountPath": "/opt/payload"}],
        },
        volumes=[
            {
                "name": "payload",
                "configMap": {"name": "payload", "items": [{"key": "module.py", "path": "package/module.py"}]},
            }
        ],
        **ON_NODE,
    )
    pod = finished(cluster)
    assert pod["status"]["phase"] == "Succeeded"
    assert pod["status"]["podIP"].startswith("10.244.0.")
    assert output(cluster, pod) == f"hello from {NODE}\n"


def test_a_pod_speaks_to_the_api_server_as_its_service_account(cluster: Rehearsed) -> None:
    program = """
import json, os, ssl, sys, urllib.request
token, ca = (open(path).read() if index == 0 else path for index, path in enumerate(sys.argv[1:]))
host = os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"]
request = urllib.request.Request(
    f"https://{host}/apis/authentication.k8s.io/v1/selfsubjectreviews",
    data=b'{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}',
    headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
)
answer = json.load(urllib.request.urlopen(request, context=ssl.create_default_context(cafile=ca)))
print(answer["status"]["userInfo"]["username"])
"""
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    cluster.job("whoami", python(program, f"{account}/token", f"{account}/ca.crt"), **ON_NODE)
    pod = finished(cluster)
    assert output(cluster, pod) == f"system:serviceaccount:{cluster.namespace}:default\n"


def test_the_machine_shows_its_links_and_the_devices_that_the_pod_holds(cluster: Rehearsed) -> None:
    program = (
        "import pathlib, sys; sys_, dev = map(pathlib.Path, sys.argv[1:]);"
        "print(*sorted(p.name for p in sys_.glob('class/infiniband/*')));"
        "print((sys_ / 'class/infiniband/mlx5_0/ports/1/rate').read_text().strip());"
        "print(len(list(dev.glob('infiniband/uverbs*'))), len(list(dev.glob('nvidia[0-9]*'))))"
    )
    cluster.job("look", python(program, "/sys", "/dev"), **ON_NODE)
    names, rate, held = output(cluster, finished(cluster)).splitlines()
    assert names.split() == [f"mlx5_{n}" for n in range(9)]
    assert rate == "400 Gb/sec (4X NDR)"
    assert held == "0 0", "the pod asked for no device"


def test_a_failing_container_reports_code_and_message(cluster: Rehearsed) -> None:
    program = "import sys; open(sys.argv[1], 'w').write('link of mlx5_3 is down'); sys.exit(3)"
    cluster.job("fail", python(program, "/dev/termination-log"), **ON_NODE)
    pod = finished(cluster)
    assert pod["status"]["phase"] == "Failed"
    assert (ended(pod)["exitCode"], ended(pod)["message"]) == (3, "link of mlx5_3 is down")


def test_the_message_falls_back_to_the_log(cluster: Rehearsed) -> None:
    program = "raise SystemExit('no peer answered')"
    cluster.job("fail", python(program, terminationMessagePolicy="FallbackToLogsOnError"), **ON_NODE)
    assert ended(finished(cluster))["message"] == "no peer answered\n"


def test_a_shells_script_runs_on_the_machines_files(cluster: Rehearsed) -> None:
    script = 'for port in /sys/class/infiniband/*/ports/1; do cat "$port/link_layer"; done | sort | uniq -c; exit $1'
    cluster.job("script", {"command": ["sh", "-c", script, "sh", "3"]}, **ON_NODE)
    pod = finished(cluster)
    assert output(cluster, pod).split() == ["1", "Ethernet", "8", "InfiniBand"]
    assert ended(pod)["exitCode"] == 3


@pytest.mark.parametrize(
    ("script", "program"), [("exec torchrun a.py", "torchrun"), ("kubectl get pods || exit 1", "kubectl")]
)
def test_a_script_that_calls_what_no_machine_has_is_taken_to_succeed_and_says_so(
    cluster: Rehearsed, script: str, program: str
) -> None:
    cluster.job("script", {"command": ["sh", "-c", script]}, **ON_NODE)
    assert finished(cluster)["status"]["phase"] == "Succeeded"
    assert any(f"simulated machines lack {program}" in event for event in events(cluster))


def test_what_the_computer_has_beside_is_not_called(cluster: Rehearsed) -> None:
    cluster.job("script", {"command": ["sh", "-c", "pip --version && curl --version; command -v git"]}, **ON_NODE)
    assert ended(finished(cluster))["exitCode"] in {0, 127}
    assert "pip 2" not in output(cluster, only_pod(cluster))


def test_a_container_is_started_again_on_failure(cluster: Rehearsed) -> None:
    program = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); first = not p.exists(); p.touch(); sys.exit(first)"
    cluster.job(
        "retry",
        python(program, "/scratch/seen", volumeMounts=[{"name": "scratch", "mountPath": "/scratch"}]),
        restartPolicy="OnFailure",
        volumes=[{"name": "scratch", "emptyDir": {}}],
        spec={"backoffLimit": 3},  # restarts count against it: with 0 the Job may fail before the second try ends
        **ON_NODE,
    )
    pod = finished(cluster)
    assert pod["status"]["phase"] == "Succeeded"
    status = pod["status"]["containerStatuses"][0]
    assert (status["restartCount"], status["lastState"]["terminated"]["exitCode"]) == (1, 1)


def test_a_failing_init_container_keeps_the_others_from_starting(cluster: Rehearsed) -> None:
    broken = {"name": "broken", "image": "x", **python("raise SystemExit(4)")}
    cluster.job("init", python("print('never')"), initContainers=[broken], **ON_NODE)
    pod = finished(cluster)
    assert pod["status"]["phase"] == "Failed"
    assert ended(pod, "broken")["exitCode"] == 4
    assert "PodInitializing" in str(pod["status"]["containerStatuses"][0]["state"])


def test_a_missing_config_map_is_waited_for(cluster: Rehearsed) -> None:
    reference = {"name": "GREETING", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "greeting"}}}
    cluster.job("late", python("import os; print(os.environ['GREETING'])", env=[reference]), **ON_NODE)
    waiting = cluster.eventually(lambda: "CreateContainerConfigError" in str(cluster.pods()) and only_pod(cluster))
    assert 'configmap "late" not found' in str(waiting["status"])
    cluster.config_map("late", {"greeting": "at last"})
    assert output(cluster, finished(cluster)) == "at last\n"


def test_deleting_a_pod_ends_all_its_processes(cluster: Rehearsed) -> None:
    # The grandchild leaves the process group and the session, and ignores SIGTERM.
    program = (
        "import subprocess, sys, time;"
        "child = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)';"
        "p = subprocess.Popen([sys.executable, '-c', child], start_new_session=True);"
        "print(p.pid, flush=True); time.sleep(600)"
    )
    cluster.job("long", python(program), terminationGracePeriodSeconds=1, **ON_NODE)
    cluster.eventually(lambda: cluster.pods() and only_pod(cluster)["status"]["phase"] == "Running")
    grandchild = int(cluster.eventually(lambda: output(cluster, only_pod(cluster)).strip()))
    assert psutil.pid_exists(grandchild)
    cluster.client.delete(Job, "long", namespace=cluster.namespace, cascade=CascadeType.BACKGROUND)
    cluster.eventually(lambda: not cluster.pods())
    cluster.eventually(lambda: not psutil.pid_exists(grandchild))


def test_a_pod_past_its_deadline_is_failed(cluster: Rehearsed) -> None:
    cluster.job("slow", python("import time; time.sleep(600)"), activeDeadlineSeconds=1, **ON_NODE)
    pod = finished(cluster)
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "DeadlineExceeded")


@pytest.fixture
def scarce(cluster: Rehearsed) -> str:
    """A resource of which one node has one."""
    offer = {"status": {"capacity": {RESOURCE: "1"}, "allocatable": {RESOURCE: "1"}}}
    cluster.client.patch(Node.Status, NODE, offer, patch_type=PatchType.MERGE)
    return RESOURCE


def test_a_pod_that_asks_for_more_than_there_is_stays_pending(cluster: Rehearsed, scarce: str) -> None:
    cluster.job("greedy", python("print(1)", resources={"limits": {scarce: 2}}), **ON_NODE)
    cluster.eventually(lambda: "Insufficient" in str(cluster.pods()))
    assert only_pod(cluster)["status"]["phase"] == "Pending"


def test_a_pod_bound_to_a_machine_without_the_device_is_refused(cluster: Rehearsed, scarce: str) -> None:
    cluster.job("bound", python("print(1)", resources={"limits": {scarce: 2}}), nodeName=NODE)
    pod = finished(cluster)
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "UnexpectedAdmissionError")
    assert f"unavailable for {scarce}. Requested: 2, Available: 1" in pod["status"]["message"]


def test_an_indexed_job_tells_each_pod_its_rank(cluster: Rehearsed) -> None:
    indexed = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    cluster.job("ranks", python("import os; print(os.environ['JOB_COMPLETION_INDEX'])"), spec=indexed)
    cluster.eventually(lambda: [pod["status"]["phase"] for pod in cluster.pods()] == ["Succeeded"] * 2)
    assert sorted(output(cluster, pod).strip() for pod in cluster.pods()) == ["0", "1"]


def test_a_deleted_pods_files_are_removed(cluster: Rehearsed) -> None:
    cluster.job("gone", python("print(1)"), **ON_NODE)
    folder = Path(cluster.run.machines / "pods" / finished(cluster)["metadata"]["uid"])
    assert folder.is_dir()
    cluster.client.deletecollection(Pod, namespace=cluster.namespace)
    deadline = time.monotonic() + 60
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not folder.exists()


def test_logs_are_read_through_the_api_server(cluster: Rehearsed) -> None:
    program = "import time; [print(n, flush=True) or time.sleep(0.05) for n in range(20)]"
    cluster.job("log", python(program), **ON_NODE)
    cluster.eventually(lambda: cluster.pods() and only_pod(cluster)["status"]["phase"] != "Pending")
    name = only_pod(cluster)["metadata"]["name"]
    followed = list(cluster.client.log(name, namespace=cluster.namespace, follow=True))
    assert [line.strip() for line in followed] == [str(n) for n in range(20)]
    assert "".join(cluster.client.log(name, namespace=cluster.namespace, tail_lines=2)) == "18\n19\n"


def test_the_log_of_a_simulated_container_says_that_there_is_none(cluster: Rehearsed) -> None:
    cluster.daemon_set("cni", {"app": "cni-plugins"})
    cluster.eventually(lambda: [pod["status"]["phase"] for pod in cluster.pods()] == ["Running"] * 2)
    lines = "".join(cluster.client.log(only_pod(cluster)["metadata"]["name"], namespace=cluster.namespace))
    assert "does not have a log" in lines
