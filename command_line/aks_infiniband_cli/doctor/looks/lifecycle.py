"""Parts that are left half-way or behind: releases, objects that cannot go, definitions, and versions out of
support.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from aks_infiniband.diagnosis.operators import release_findings
from aks_infiniband.diagnosis.view import Finding, condition, name_of
from aks_infiniband.facts.kubernetes import MOST_BEHIND, RELEASES, Minor, minor_of
from aks_infiniband.facts.releases import OLDEST_KUBERNETES, OUT_OF_SUPPORT

from aks_infiniband_cli.doctor.looks.operands import operator_namespaces, operator_version
from aks_infiniband_cli.doctor.snapshot import Snapshot, info_of, labels_of

_PATIENCE: Final = timedelta(minutes=10)
"""Time after which an object that is being deleted waits for a controller that is gone."""
_NODE_POLICIES_SINCE: Final = (26, 4)
"""The first Network Operator with NicNodePolicies (Mellanox/network-operator v26.4.1, deployment chart)."""


def releases(snapshot: Snapshot) -> Iterator[Finding]:
    """Helm releases that were cut off, and Deployments of the operators that are not available."""
    view = snapshot.view
    for namespace in sorted(operator_namespaces(snapshot)):
        names = [
            labels_of(secret).get("name", "")
            for secret in view.release_secrets
            if secret["metadata"].get("namespace") == namespace
        ]
        for name in dict.fromkeys(names) or [""]:
            yield from release_findings(view, name, namespace)


def terminating(snapshot: Snapshot) -> Iterator[Finding]:
    """Objects that were deleted long ago and still wait for the removal of their finalizer."""
    for item in snapshot.objects():
        metadata, kind = item["metadata"], str(item.get("kind"))
        since = metadata.get("deletionTimestamp")
        if not since or snapshot.read_at - datetime.fromisoformat(str(since).replace("Z", "+00:00")) < _PATIENCE:
            continue
        about = f"{kind.lower() if kind in ('Namespace', 'Pod', 'Node') else kind} {name_of(item)}"
        if kind == "Namespace":
            messages = [condition(item, name).get("message") for name in _REMAINING]
            what = f"{about} is Terminating since {since}: {' '.join(filter(None, messages)) or 'no reason given'}"
            yield Finding(symptom="namespace-terminating", about=about, what=what)
        elif metadata.get("finalizers"):
            holding = ", ".join(metadata["finalizers"])
            what = f"{about} is to be deleted since {since}, and waits for the finalizer {holding}"
            yield Finding(symptom="finalizer-stuck", about=about, what=what)


_REMAINING: Final = ("NamespaceContentRemaining", "NamespaceFinalizersRemaining", "NamespaceDeletionDiscoveryFailure")


def definitions(snapshot: Snapshot) -> Iterator[Finding]:
    """Definitions older than the operator that reads them."""
    version = operator_version(snapshot, "network-operator")
    if version and minor_of(version) >= _NODE_POLICIES_SINCE and "NicNodePolicy" in snapshot.undefined:
        what = f"the Network Operator is {version}, and the API server knows no NicNodePolicy"
        yield Finding(
            symptom="definitions-stale", about="CustomResourceDefinition nicnodepolicies.mellanox.com", what=what
        )


def versions(snapshot: Snapshot) -> Iterator[Finding]:
    """Kubernetes and operators that get no more fixes, and kubelets too old for their API server."""
    told = {name_of(node): str(info_of(node).get("kubeletVersion")) for node in snapshot.view.nodes}
    matches = {name: re.match(r"v(\d+)\.(\d+)", version) for name, version in told.items()}
    kubelets: dict[str, Minor] = {name: (int(match[1]), int(match[2])) for name, match in matches.items() if match}
    newest = max(kubelets.values(), default=OLDEST_KUBERNETES)
    release = RELEASES.get(newest)
    if newest < OLDEST_KUBERNETES or (release and release.long_term_end < snapshot.read_at.date()):
        end = f", with long-term support until {release.long_term_end}" if release else ""
        what = f"the newest node runs Kubernetes {newest[0]}.{newest[1]}, which AKS no longer supports{end}"
        yield Finding(symptom="kubernetes-out-of-support", about="nodes", what=what)
    for name, minor in kubelets.items():
        if minor[0] == newest[0] and newest[1] - minor[1] > MOST_BEHIND:
            what = f"node {name} runs Kubernetes {minor[0]}.{minor[1]}, others {newest[0]}.{newest[1]}"
            yield Finding(symptom="kubelet-too-old", about=f"node {name}", what=what)
    for operator, ended in OUT_OF_SUPPORT.items():
        version = operator_version(snapshot, operator)
        if version and minor_of(version) <= ended:
            yield Finding(symptom=f"{operator}-out-of-support", about=operator, what=f"{operator} {version} runs")
