"""The simulated AKS refuses the values that AKS reserves for itself in an agent pool, and the pairs that it does not
take together.
"""

from typing import Any

import pytest

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, RefusedError, pool_inputs
from tests.simulator.unit.azure.pools import POOL


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"nodeLabels": {"kubernetes.azure.com/team": "ml"}},
            "prefix of 'kubernetes.azure.com/team' is reserved",
        ),
        ({"nodeLabels": {"kubernetes.io/team": "ml"}}, "prefix of 'kubernetes.io/team' is reserved"),
        ({"upgradeSettings": {"maxSurge": "0"}}, "cannot both be 0"),
        ({"nodeTaints": ["kubernetes.azure.com/mine=yes:NoSchedule"]}, "is reserved for use by AKS"),
        ({"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "0"}}, "cannot both be 0"),
        ({"upgradeSettings": {"maxSurge": "0%", "maxUnavailable": "0"}}, "cannot both be 0"),
        (
            {"vmSize": "Standard_ND96isr_MI300X_v5", "gpuProfile": {"driver": "Install"}},
            "'Standard_ND96isr_MI300X_v5' needs the GPU driver None",
        ),
    ],
)
def test_what_aks_keeps_for_itself_is_refused(
    azure: Azure, cluster: Properties, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        azure.create(POOL, "pool", **pool_inputs(cluster, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"nodeLabels": {"team": "ml"}, "nodeTaints": ["sku=gpu:NoSchedule"]},
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}},
        {"vmSize": "Standard_ND96isr_MI300X_v5", "gpuProfile": {"driver": "None"}},
    ],
)
def test_what_aks_takes_is_taken(azure: Azure, cluster: Properties, changes: dict[str, Any]) -> None:
    assert azure.create(POOL, "pool", **pool_inputs(cluster, count=1, **changes))["provisioningState"] == "Succeeded"
