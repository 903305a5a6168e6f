"""An existing cluster: nodes by label, and nothing of Azure."""

from typing import Any

from aks_infiniband import load

from tests.unit.components.stack_files import existing, pool


def of(label: str, **more: Any) -> Any:
    return pool(nodeSelector={"pool": label}, **more)


def test_a_kubeconfig_and_labels_are_all_it_takes() -> None:
    stack = load(existing(of("a"), of("b", name="b")))
    assert stack.existing is not None
    assert stack.existing.server == "https://lab.example.com:6443"
    assert stack.pools[0].node_selector == {"pool": "a"}
