"""What a measurement is held against: published and measured figures with where they come from, and computed floors.

Published numbers disagree (H100 v5: about 450 GB/s tuned in one source, 157 untuned in another), so each row says what
it was taken of and with what. What nobody has published is computed from the machine's ports, and says so.
"""

from aks_infiniband.facts.baselines.choice import baselines_of, computed_floors, threshold, thresholds
from aks_infiniband.facts.baselines.model import FIGURES, Baseline, Figure, GivenThreshold
from aks_infiniband.facts.baselines.published import BASELINES

__all__ = [
    "BASELINES",
    "FIGURES",
    "Baseline",
    "Figure",
    "GivenThreshold",
    "baselines_of",
    "computed_floors",
    "threshold",
    "thresholds",
]
