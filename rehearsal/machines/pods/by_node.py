"""The pods of each node, as the cluster's changes tell of them: nobody goes through those of all nodes for one."""

from dataclasses import dataclass, field

from rehearsal.watch.cluster import Cluster, Document, Key


@dataclass
class PodsByNode:
    """The pods that are bound to each node."""

    _pods: dict[str, dict[Key, Document]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "PodsByNode":
        """Those of a cluster, from now on."""
        found = cls()
        cluster.listeners.append(found.hear)
        return found

    def on(self, node: str) -> list[Document]:
        """Those on a node."""
        return list(self._pods.get(node, {}).values())

    def hear(self, kind: str, document: Document, gone: bool) -> None:
        """Take note of a change."""
        metadata, node = document["metadata"], document["spec"].get("nodeName") if kind == "Pod" else None
        if node is None:
            return
        key = metadata["namespace"], metadata["name"]
        if gone:
            self._pods.get(node, {}).pop(key, None)
        else:
            self._pods.setdefault(node, {})[key] = document
