"""When the GPU Operator looks at its driver's upgrade."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rehearsal.operators.plan import Document, labels_of
from rehearsal.operators.upgrade_step import DRAIN, POD_DELETION, DriverKind


@dataclass(kw_only=True)
class Attention:
    """It looks when the policy's or the driver DaemonSet's specification has changed, or the state of a node, and else
    every two minutes: what happens to pods it does not watch. So a driver that is ready after half a minute is seen up
    to two minutes later; its node stays cordoned until then (gpu-operator v26.3.3, controllers/upgrade_controller.go).

    Pods are deleted and nodes drained beside that, in tasks of their own (k8s-operator-libs, pkg/upgrade).
    """

    every: float
    """Seconds between two looks at most."""
    clock: Callable[[], float]
    _seen: object = field(default=None, init=False)
    _at: float = field(default=0, init=False)

    def is_due(self, policy: Document, driver: Document, nodes: Sequence[Document], kind: DriverKind) -> bool:
        """Whether it looks now; then it has looked."""
        states = {node["metadata"]["name"]: labels_of(node).get(kind.label) for node in nodes}
        seen = (policy["metadata"].get("generation"), driver["metadata"].get("generation"), states)
        now = self.clock()
        if seen == self._seen and now - self._at < self.every and not {POD_DELETION, DRAIN} & set(states.values()):
            return False
        self._seen, self._at = seen, now
        return True
