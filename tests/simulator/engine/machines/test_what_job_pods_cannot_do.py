"""The actions that a Job cannot do to the person whose rehearsal it runs in, and its events on actions that a rehearsal
does not do.
"""

import os
from pathlib import Path

from lightkube.resources.core_v1 import Pod

from .conftest import Rehearsed
from .jobs import ON_NODE, events, finished, output, python


def test_a_job_that_does_its_worst_reads_and_changes_nothing_of_the_persons(cluster: Rehearsed, tmp_path: Path) -> None:
    """The Job leaves links in place of all that the kubelet gave it, fails, and is started again; then it is
    deleted.
    """
    key = tmp_path / "id_ed25519"
    key.write_text("the person's key")
    program = (
        "import os, shutil, sys; own, first, *given = sys.argv[1:]; again = os.path.exists(first);"
        "open(first, 'w').close() if not again else sys.exit(0);\n"
        "for path in [*given, os.environ['HOME'], '.', '..', '../..']:\n"
        "    for link, target in ((path, own), (path + '/null', own + '/id_ed25519')):\n"
        "        try:\n"
        "            shutil.rmtree(link) if os.path.isdir(link) and not os.path.islink(link) else os.unlink(link)\n"
        "        except OSError as error: print(error)\n"
        "        try: os.symlink(target, link)\n"
        "        except OSError as error: print(error)\n"
        "sys.exit(1)"
    )
    given = ("/dev/termination-log", "/dev", "/proc", "/sys", "/tmp", "/payload", "/host")
    cluster.config_map("payload", {"module.py": "0"})
    cluster.job(
        "worst",
        python(
            program,
            str(tmp_path),
            "/scratch/first",
            *given,
            volumeMounts=[{"name": name, "mountPath": f"/{name}"} for name in ("scratch", "payload", "host")],
        ),
        restartPolicy="OnFailure",
        volumes=[
            {"name": "scratch", "emptyDir": {}},
            {"name": "payload", "configMap": {"name": "payload"}},
            {"name": "host", "hostPath": {"path": "/of-a-job"}},
        ],
        spec={"backoffLimit": 3},
        **ON_NODE,
    )
    pod = finished(cluster)
    assert pod["status"]["phase"] == "Succeeded"
    assert "person" not in str(pod["status"])
    assert [path.name for path in tmp_path.iterdir()] == ["id_ed25519"]
    assert key.read_text() == "the person's key"
    cluster.client.deletecollection(Pod, namespace=cluster.namespace)
    cluster.eventually(lambda: not cluster.pods())
    assert key.read_text() == "the person's key"


def test_a_pod_that_asks_for_a_user_is_told_that_it_runs_as_this_one(cluster: Rehearsed) -> None:
    user = os.geteuid() + 1
    cluster.job("user", python("import os; print(os.geteuid())", securityContext={"runAsUser": user}), **ON_NODE)
    assert output(cluster, finished(cluster)) == f"{os.geteuid()}\n"
    told = f"runAsUser {user} does nothing, a rehearsal runs every program as {os.geteuid()}, which started it"
    cluster.eventually(lambda: any(told in message for message in events(cluster)))


def test_a_program_that_machines_lack_is_assumed_to_succeed(cluster: Rehearsed) -> None:
    cluster.job("ranks", {"command": ["torchrun", "train.py"]}, **ON_NODE)
    assert finished(cluster)["status"]["phase"] == "Succeeded"
    told = "Container main is not run: simulated machines lack torchrun. The run continues"
    cluster.eventually(lambda: told in events(cluster))
