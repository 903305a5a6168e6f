"""A recording shows all requests of a program to the engine, and nothing that differs from run to run."""

from pathlib import Path
from typing import Any

import pytest

from declared.program import run
from declared.recording import document, text

PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes

from beside import NAMES

def labelled(made):
    if made.type_ != "kubernetes:core/v1:ConfigMap":
        return None
    metadata = {**made.props["metadata"], "labels": {"team": "lab"}}
    return pulumi.ResourceTransformResult(props={**made.props, "metadata": metadata}, opts=made.opts)

class Room(pulumi.ComponentResource):
    def __init__(self, name, opts=None):
        super().__init__("sample:index:Room", name, None, opts)

given = pulumi.Config("sample").require_object("given")
room = Room("room", opts=pulumi.ResourceOptions(transforms=[labelled], aliases=[pulumi.Alias(name="hall")]))
first = kubernetes.core.v1.ConfigMap(
    "first",
    metadata={"name": NAMES[0]},
    data={"run.py": "print(1)", "text": "one\\ntwo\\n", "count": str(given["count"])},
    opts=pulumi.ResourceOptions(parent=room, protect=True, ignore_changes=["data"]),
)
kubernetes.batch.v1.Job(
    "job",
    metadata={"name": "job-0a1b2c3d"},
    spec={"template": {"spec": {"containers": [], "restartPolicy": "Never"}}, "parallelism": 2},
    opts=pulumi.ResourceOptions(depends_on=[first]),
)
pulumi.export("secret", pulumi.Output.secret("s3cret"))
"""


@pytest.fixture
def recording(tmp_path: Path) -> Any:
    """The recording of a program with a component, two objects, a module in its folder and a stack file."""
    (tmp_path / "Pulumi.yaml").write_text("name: sample\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  sample:given: {count: 3}\n")
    (tmp_path / "beside.py").write_text('NAMES = ["first"]\n')
    (tmp_path / "__main__.py").write_text(PROGRAM)
    return document(run(tmp_path, "dev"))


def resource(recording: Any, name: str) -> Any:
    (found,) = [found for found in recording["resources"] if found["urn"].endswith(f"::{name}")]
    return found


def test_a_urn_has_the_types_of_all_parents(recording: Any) -> None:
    assert [found["urn"] for found in recording["resources"]] == [
        "kubernetes:batch/v1:Job::job",
        "sample:index:Room$kubernetes:core/v1:ConfigMap::first",
        "sample:index:Room::room",
    ]


def test_relations_and_options_are_shown(recording: Any) -> None:
    first = resource(recording, "first")
    assert (first["parent"], first["protect"], first["ignoreChanges"]) == ("sample:index:Room::room", True, ["data"])
    assert resource(recording, "job")["dependencies"] == ["kubernetes:core/v1:ConfigMap::first"]
    assert [alias["name"] for alias in resource(recording, "room")["aliases"]] == ["hall"]


def test_inputs_are_what_the_stack_file_and_the_transforms_make_them(recording: Any) -> None:
    inputs = resource(recording, "first")["inputs"]
    assert inputs["data"]["count"] == "3"
    assert inputs["metadata"] == {"labels": {"team": "lab"}, "name": "first"}
    assert resource(recording, "job")["inputs"]["spec"]["parallelism"] == 2


def test_source_text_and_hashes_are_constant(recording: Any) -> None:
    assert resource(recording, "first")["inputs"]["data"]["run.py"] == "<source>"
    assert resource(recording, "job")["inputs"]["metadata"]["name"] == "job-<hash>"


def test_an_output_says_that_it_is_secret(recording: Any) -> None:
    assert recording["outputs"] == {"secret": {"<secret>": "s3cret"}}


def test_text_of_several_lines_is_shown_in_several_lines(recording: Any) -> None:
    assert "text: |\n        one\n        two\n" in text(recording)


def test_the_exception_of_a_program_comes_through(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: sample\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text("raise LookupError('no such thing')\n")
    with pytest.raises(LookupError, match="no such thing"):
        run(tmp_path, "dev")
