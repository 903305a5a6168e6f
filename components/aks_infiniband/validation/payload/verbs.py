"""What libibverbs sees of the HCAs that the kernel shows: without it, or without its provider for mlx5, every program
of the pod is left with TCP sockets, and most of them say nothing of it.

Asked is ibv_devinfo of rdma-core, whose output is (libibverbs/examples/devinfo.c; seen whole on an Azure machine in
Azure/azhpc-images pull request 44, with devices that could not be opened in hustcat/k8s-rdma-device-plugin issue 8, of
an image without providers in dsx-ai-factory/infra-controller pull request 5251)::

    hca_id: mlx5_ib0
            transport:                      InfiniBand (0)
            phys_port_cnt:                  1
                    port:   1
                            state:                  PORT_ACTIVE (4)
                            link_layer:             InfiniBand
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .checks import Check, make_check
from .hcas import in_pod
from .process import Ended, run
from .tools import Tools

PROGRAM = "ibv_devinfo"

_LIMIT_SECONDS = 30
_ACTIVE = {"state": "PORT_ACTIVE", "link_layer": "InfiniBand"}
_ROW = re.compile(r"^\s*(hca_id|port|state|link_layer):\s+(\S.*?)(?:\s+\(-?\d+\))?\s*$")


def ports_of(output: str) -> dict[str, list[dict[str, str]]]:
    """The state and link layer of every port, by device; a device of which no more is said has no port."""
    found: dict[str, list[dict[str, str]]] = {}
    ports: list[dict[str, str]] = []
    for line in output.splitlines():
        match = _ROW.match(line)
        if match is None:
            continue
        name, value = match.groups()
        if name == "hca_id":
            ports = found.setdefault(value, [])
        elif name == "port":
            ports.append({})
        elif ports:
            ports[-1][name] = value
    return found


def look(tools: Tools, *, execute: Callable[[Sequence[str], float], Ended] = run) -> dict[str, Any]:
    """The ports that libibverbs sees, and what the tool said where it did not end well.

    They are None where it could not be asked. An exit code says nothing: one device that cannot be opened, such as the
    Ethernet one, is enough for another than 0.
    """
    if PROGRAM in tools.missing:
        return {"ports": None, "said": tools.error or f"{PROGRAM} is not in the package that should have it"}
    ended = execute((PROGRAM,), _LIMIT_SECONDS)
    if ended.code is None or ended.code < 0:
        return {"ports": None, "said": ended.error}
    return {"ports": ports_of(ended.output), "said": ended.error}


def judge_verbs(node: str, facts: Mapping[str, Any]) -> Check:
    """Whether libibverbs sees every HCA that sysfs shows, Active and with InfiniBand."""
    devices = list(dict.fromkeys(hca["device"] for hca in facts["hcas"]))
    ports, said = facts["verbs"]["ports"], facts["verbs"]["said"]
    count = len(devices)
    if not devices:
        nobody = "no InfiniBand device to ask"
        return make_check("verbs-devices", "not measured", node=node, expected=None, measured=None, cause=nobody)
    if ports is None:
        cause = f"libibverbs could not be asked: {said}"
        return make_check("verbs-devices", "not measured", node=node, expected=count, measured=None, cause=cause)
    lacking = [device for device in devices if _ACTIVE not in ports.get(device, [])]
    if not lacking:
        return make_check("verbs-devices", "pass", node=node, expected=count, measured=count)
    cause = _cause(lacking, facts, ports, said)
    return make_check("verbs-devices", "fail", node=node, expected=count, measured=count - len(lacking), cause=cause)


def _cause(lacking: Sequence[str], facts: Mapping[str, Any], ports: Mapping[str, Any], said: str | None) -> str:
    unseen = [device for device in lacking if device not in ports]
    closed = [device for device in unseen if not facts["uverbs"] or not in_pod(facts, device)]
    unknown = [device for device in unseen if device not in closed]
    parts = []
    if closed:
        parts.append(f"{', '.join(closed)}: the file in /dev/infiniband is not in the pod, see rdma-devices")
    if unknown:
        parts.append(
            f"{', '.join(unknown)}: the image lacks libibverbs or its provider libmlx5, or has one that does not fit, "
            "and NCCL and UCX would use TCP sockets; packages rdma-core or libibverbs (Azure Linux), libibverbs1 and "
            "ibverbs-providers (Ubuntu)"
        )
    parts += [f"{device}: {_shown(ports[device])}" for device in lacking if device in ports]
    return "; ".join([*parts, *([said] if unseen and said else [])])


def _shown(ports: Sequence[Mapping[str, str]]) -> str:
    shown = " and ".join(f"{port.get('state')}, link layer {port.get('link_layer')}" for port in ports)
    return f"libibverbs shows it as {shown or 'a device without port'}, see hca-state"
