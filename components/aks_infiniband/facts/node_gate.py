"""The taint that keeps pods off a node until it is measured, and the conditions that name a fault of a node.

Two other ways were looked at (2026-11-28), and neither does it:

- AKS's node initialization taints (MicrosoftDocs/azure-aks-docs, use-node-taints.md, read 2026-11-28) are a preview. An
  operation on an agent pool that has them is refused, so they would hold for every pool of the cluster, and they come
  with a new or upgraded node only, not with one that restarted.
- Node Readiness Controller 0.5.0 (kubernetes-sigs/node-readiness-controller e5ff8d1, api/v1alpha1) takes keys that
  begin with readiness.k8s.io/ alone. Kubernetes' cluster autoscaler takes those for a start only with the flag
  --startup-taint-prefix (kubernetes/autoscaler pull request 9296, 2026-03), and AKS does not let you set flags of its
  autoscaler (Azure/AKS issue 3276). So it would add a machine for pods that wait for a node that is being measured.
  The controller also decides by a condition's status alone, so one of an earlier boot would count.
"""

from typing import Final, Literal

Admission = Literal["at-once", "measured", "measured-or-late"]
"""When pods may come to a node that joined or restarted."""
Maintenance = Literal["keep", "announce", "drain", "drain-freeze"]
"""Treatment of the pods of a node for which Azure has announced maintenance."""
DRAINING: Final = ("drain", "drain-freeze")
"""The values by which pods are evicted. AKS's node auto-drain does that by itself before a redeployment or a
preemption, before the end of a machine if its scale set announces it, and before a freeze only for pods with a label (a
preview); before a reboot it does nothing (learn.microsoft.com, azure/aks/node-auto-drain and
azure/aks/node-auto-drain-evict-on-freeze, read 2026-11-28)."""
NOT_MEASURED: Final = "startup-taint.cluster-autoscaler.kubernetes.io/infiniband-not-measured"
"""Key of the taint. Kubernetes' cluster autoscaler takes a node with a taint of this prefix for one in its start: it
waits for the node, and does not expect the taint of new nodes (kubernetes/autoscaler 1.29.0, release notes and FAQ,
"startup taints"). AKS's build of it keeps the prefix: assumed."""
FAULTS: Final = ("GPUMissing", "IBLinkFlapping", "XIDErrors")
"""Conditions of AKS's node problem detector that are a reason to measure the node (Azure/AKS issue 4735; the others of
its conditions are about maintenance or the node's own programs)."""
EFFECT: Final = "NoSchedule"
