"""A cluster that others keep: its API server belongs to the test, and a stack file names it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from aks_infiniband import Stack, load
from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.stack import stack

from tests.unit.command_line.loopback import Answers, kubeconfig, serving
from tests.unit.components.stack_files import existing, pool


@contextmanager
def kubeconfig_of(answers: Answers) -> Iterator[str]:
    """Serve these answers until the block is left; yields the kubeconfig that leads to them."""
    with serving(answers) as url:
        yield kubeconfig(url)


def stack_in(access: str, sections: Mapping[str, Any] = MappingProxyType({}), **workload: Any) -> Stack:
    """A stack in that cluster, with one pool on the nodes that carry the label pool: a."""
    there = KubeconfigFile(kubeconfig=access, context="c", server="https://lab.example.com")
    written = existing(pool(nodeSelector={"pool": "a"}, gpuDirect="auto"), workload=workload, **sections)
    with patch.object(stack, "read_kubeconfig", return_value=there):
        return load({**written, "aks-infiniband:validation": {"mode": "off"}})
