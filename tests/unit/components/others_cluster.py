"""A cluster that others keep: its API server belongs to the test, and a stack file names it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from aks_infiniband import RdmaCluster, RdmaClusterArgs, Stack, load
from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.stack import stack

from tests.unit.components.stack_files import existing, pool


class OthersCluster:
    """Its API server. answers: by path, a document or the status of an error; other paths do not exist."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.kubeconfig = ""

    def answer(self, path: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        said = self.answers.get(path, 404)
        if isinstance(said, int):
            return said, {"kind": "Status", "code": said, "message": "no"}, {}
        return 200, said, {}

    def stack(self, sections: Mapping[str, Any] = MappingProxyType({}), **workload: Any) -> Stack:
        """A stack in this cluster, with one pool on the nodes that carry the label pool: a."""
        there = KubeconfigFile(kubeconfig=self.kubeconfig, context="c", server="https://lab.example.com")
        written = existing(pool(nodeSelector={"pool": "a"}, gpuDirect="auto"), workload=workload, **sections)
        with patch.object(stack, "read_kubeconfig", return_value=there):
            return load({**written, "aks-infiniband:validation": {"mode": "off"}})

    def program(self, sections: Mapping[str, Any] = MappingProxyType({}), **workload: Any) -> Callable[[], Any]:
        """A program with all that such a stack declares."""
        declared = self.stack(sections, **workload)
        return lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=declared)).cluster_name


def listed(*items: Mapping[str, Any]) -> dict[str, Any]:
    """The API server's list of objects, each with this metadata."""
    return {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": item} for item in items]}
