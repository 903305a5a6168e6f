"""NV-IPAM's controller: while its pod runs, every IPPool of its namespace says which node has which block."""

import logging
from dataclasses import dataclass

from lightkube.types import PatchType

from rehearsal.machines.network.address_pools import allocations
from rehearsal.machines.pods.effects import Effects
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.kinds import RESOURCES
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AddressController:
    """The controller of one cluster."""

    cluster: Cluster
    effects: Effects

    async def keep(self) -> None:
        """Keep the status of all pools until cancelled."""
        while True:
            version = self.cluster.version
            namespaces = self._namespaces()
            for (namespace, _), pool in list(self.cluster.of("IPPool").items()):
                if namespace in namespaces:
                    await self._keep_pool(pool)
            await self.cluster.changed_since(version)

    def _namespaces(self) -> set[str]:
        """The namespaces in which a controller runs; it looks only at the pools of the namespace that it runs in."""
        running = set(self.effects.pods_anywhere("addressController"))
        pods = self.cluster.of("Pod").values() if running else ()
        return {pod["metadata"]["namespace"] for pod in pods if pod["metadata"]["uid"] in running}

    async def _keep_pool(self, pool: Document) -> None:
        namespace, name = pool["metadata"]["namespace"], pool["metadata"]["name"]
        before = (pool.get("status") or {}).get("allocations") or []
        try:
            made = allocations(pool, self.cluster.of("Node").values())
        except ValueError as error:  # as the real one does: an invalid specification clears the status
            if before:
                log.error("IPPool %s/%s gives no addresses: %s", namespace, name, error)
            made = []
        if made == before:
            return
        patch = {"status": {"allocations": made}}
        await insist(
            lambda: self.cluster.client.patch(
                RESOURCES["IPPool"].Status, name, patch, namespace=namespace, patch_type=PatchType.MERGE
            ),
            what=f"status of IPPool {namespace}/{name}",
        )
        log.info("IPPool %s/%s: blocks of %s", namespace, name, [block["nodeName"] for block in made])
