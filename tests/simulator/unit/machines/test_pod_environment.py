import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rehearsal.machines.kubelet.containers import rewritten
from rehearsal.machines.kubelet.environment import (
    InvalidReferenceError,
    MissingReferenceError,
    References,
    container_environment,
    expanded,
)
from rehearsal.machines.kubelet.volumes import write_volume

POD = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a/b": "c"}, "annotations": {"x": "y"}},
    "spec": {"nodeName": "node-0", "serviceAccountName": "sa", "containers": [{"name": "main"}]},
}
CONFIG_MAPS = {"settings": {"NCCL_DEBUG": "INFO", "file.json": "{}"}}
SECRETS = {"hidden": {"key": "s3cret"}}
REFERENCES = References(
    config_map=CONFIG_MAPS.get,
    secret=SECRETS.get,
    pod=POD,
    allocatable={"cpu": "96", "memory": "1Gi"},
    pod_ip="10.244.0.2",
    host_ip="10.224.0.4",
    kernel="6.8.0-1031-azure",
)


def environment(*entries: dict[str, Any], **container: Any) -> dict[str, str]:
    return container_environment({"name": "main", "env": list(entries)} | container, REFERENCES)


def value_from(**source: dict[str, Any]) -> str:
    return environment({"name": "V", "valueFrom": source})["V"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u"),
        ("metadata.labels['a/b']", "c"),
        ("metadata.annotations['x']", "y"),
        ("spec.nodeName", "node-0"),
        ("spec.serviceAccountName", "sa"),
        ("status.podIP", "10.244.0.2"),
        ("status.hostIP", "10.224.0.4"),
    ],
)
def test_fields_of_the_downward_api(path: str, value: str) -> None:
    assert value_from(fieldRef={"fieldPath": path}) == value


def test_a_field_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidReferenceError, match=r"the field status\.phase does not exist; .*status\.podIP"):
        value_from(fieldRef={"fieldPath": "status.phase"})


def test_limits_fall_back_to_the_node_and_are_rounded_up_to_the_divisor() -> None:
    assert value_from(resourceFieldRef={"resource": "limits.cpu"}) == "96"
    assert value_from(resourceFieldRef={"resource": "requests.cpu"}) == "0"
    own = {"limits": {"memory": "1500Mi"}}
    entry = {"name": "V", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Gi"}}}
    assert environment(entry, resources=own) == {"V": "2"}


def test_keys_of_config_maps_and_secrets() -> None:
    assert value_from(configMapKeyRef={"name": "settings", "key": "NCCL_DEBUG"}) == "INFO"
    assert value_from(secretKeyRef={"name": "hidden", "key": "key"}) == "s3cret"
    source = [{"prefix": "P_", "secretRef": {"name": "hidden"}}, {"configMapRef": {"name": "none", "optional": True}}]
    assert environment(envFrom=source) == {"P_key": "s3cret"}


def test_what_is_missing_is_named_unless_optional() -> None:
    with pytest.raises(MissingReferenceError, match='configmap "none" not found'):
        value_from(configMapKeyRef={"name": "none", "key": "k"})
    with pytest.raises(MissingReferenceError, match="couldn't find key k in secret hidden"):
        value_from(secretKeyRef={"name": "hidden", "key": "k"})
    optional = {"name": "none", "key": "k", "optional": True}
    assert environment({"name": "V", "valueFrom": {"configMapKeyRef": optional}}) == {}


def test_variables_refer_to_earlier_ones() -> None:
    assert environment({"name": "A", "value": "1"}, {"name": "B", "value": "$(A)/$$(A)/$(C)"})["B"] == "1/$(A)/$(C)"
    assert expanded("--rank=$(RANK)", {"RANK": "3"}) == "--rank=3"


PATHS = {"/dev": Path("/run/dev"), "/dev/shm": Path("/run/shm"), "/sys": Path("/run/sys"), "/opt/x": Path("/run/x")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/sys", "/run/sys"),
        ("/sys/class", "/run/sys/class"),
        ("--sys=/sys/class", "--sys=/run/sys/class"),
        ("/opt/x:/opt/x/lib:/usr/lib", "/run/x:/run/x/lib:/usr/lib"),
        ("/dev/shm/a", "/run/shm/a"),
        ("/dev/infiniband", "/run/dev/infiniband"),
        ("/data/dev", "/data/dev"),
        ("/devices", "/devices"),
        ("/dev-old", "/dev-old"),
        ("https://host/dev", "https://host/dev"),
        ("no path", "no path"),
    ],
)
def test_paths_of_the_container_are_found_where_they_begin_a_word(text: str, expected: str) -> None:
    assert rewritten(text, PATHS) == expected


def written(volume: dict[str, Any], folder: Path) -> dict[str, str]:
    async def token(claim: Mapping[str, Any]) -> str:
        return f"token for {claim.get('audience', 'the API server')}"

    target = asyncio.run(write_volume(volume, folder / "volumes", folder / "host", REFERENCES, token))
    return {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}


def test_a_config_map_volume_has_its_items_under_their_paths(tmp_path: Path) -> None:
    items = [{"key": "file.json", "path": "deep/er.json"}]
    assert written({"name": "v", "configMap": {"name": "settings", "items": items}}, tmp_path) == {"deep/er.json": "{}"}
    assert set(written({"name": "w", "configMap": {"name": "settings"}}, tmp_path)) == {"NCCL_DEBUG", "file.json"}


def test_projected_sources_lie_side_by_side(tmp_path: Path) -> None:
    sources = [
        {"serviceAccountToken": {"path": "token", "audience": "vault"}},
        {"configMap": {"name": "settings", "items": [{"key": "NCCL_DEBUG", "path": "debug"}]}},
        {"secret": {"name": "hidden"}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    files = written({"name": "v", "projected": {"sources": sources}}, tmp_path)
    assert files == {"token": "token for vault", "debug": "INFO", "key": "s3cret", "namespace": "ns"}


def test_a_missing_or_unknown_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingReferenceError, match='configmap "none" not found'):
        written({"name": "v", "configMap": {"name": "none"}}, tmp_path)
    with pytest.raises(InvalidReferenceError, match="does not have volumes of kind persistentVolumeClaim"):
        written({"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, tmp_path)
