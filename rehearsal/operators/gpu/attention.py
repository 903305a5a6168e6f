"""When the GPU Operator looks at its driver's upgrade."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rehearsal.operators.plan import Document, labels_of
from rehearsal.operators.release import JULY_2026, Release
from rehearsal.operators.upgrade_step import DRAIN, POD_DELETION, DriverKind


@dataclass(kw_only=True)
class Attention:
    """The controller looks when the policy's or the driver DaemonSet's specification has changed, or the state of a
    node, and else every two minutes: it does not watch pods. So a driver that is ready after half a minute is seen up
    to two minutes later; its node stays cordoned until then (gpu-operator v26.3.3, controllers/upgrade_controller.go).

    Pods are deleted and nodes drained at the same time, in separate tasks (k8s-operator-libs, pkg/upgrade).
    """

    every: float
    """Seconds between two looks at most."""
    clock: Callable[[], float]
    _seen: object = field(default=None, init=False)
    _at: float = field(default=0, init=False)

    def is_due(
        self, policy: Document, driver: Document, nodes: Sequence[Document], kind: DriverKind, release: Release = (0, 0)
    ) -> bool:
        """True if it looks now; then it has looked. From 26.7 on it looks too when a node is held back, or let go."""
        states = {node["metadata"]["name"]: labels_of(node).get(kind.label) for node in nodes}
        held = [labels_of(node).get(kind.skip_label) for node in nodes if release >= JULY_2026]
        seen = (policy["metadata"].get("generation"), driver["metadata"].get("generation"), states, held)
        now = self.clock()
        if seen == self._seen and now - self._at < self.every and not {POD_DELETION, DRAIN} & set(states.values()):
            return False
        self._seen, self._at = seen, now
        return True
