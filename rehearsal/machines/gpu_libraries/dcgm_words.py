"""The words of DCGM's diagnostics of level 2 on each fault of a simulated GPU, as data.

Words, numbers, categories and severities: NVIDIA/DCGM v4.5.2, dcgmlib/dcgm_errors.h and dcgm_errors.c, with what to do
next behind the words, as recorded of persistence mode (tests/field_recordings/dcgm.yaml). The set of a fault is read
from nvvs/src/Software.cpp, EntitySet.cpp and nvvs/plugin_src; no sick GPU was seen.

Level 2 makes no products, so a GPU that throttles or is slow passes, and it does not count the GPUs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Mapping
    from typing import Final

HOST_ENGINES: "Final" = "REHEARSAL_HOST_ENGINES"
"""The variable with the addresses at which a host engine listens on the machine."""
VERSION: "Final" = "4.5.2"
"""Release in GPU Operator 26.3.3 (components/aks_infiniband/facts/releases.yaml)."""
TESTS: "Final" = (("Deployment", "software"), ("Hardware", "memory"), ("Integration", "pcie"))
"""Tests of level 2, with their categories, in their order."""
_TRIAGE: "Final" = "Check DCGM and system logs for errors. Reset GPU. Restart DCGM. Rerun diagnostics."


class Finding:
    """The words of a test on a GPU that fails it.

    words: with `{gpu}` for DCGM's number of the GPU. times: of the words. skips: the reason why the tests after it pass
    over the GPU; empty if they do not.
    """

    def __init__(
        self, test: str, error: int, category: int, severity: int, words: str, *, times: int = 1, skips: str = ""
    ) -> None:
        self.test, self.error, self.category, self.severity = test, error, category, severity
        self.words, self.times, self.skips = words, times, skips


FINDINGS: "Final[Mapping[str, Finding]]" = {
    "gpu-memory": Finding(
        *("software", 84, 10, 6),
        # DCGM gives its format one number, and the format needs two: the rows that it counts are not defined.
        "Page Retirement/Row Remap: GPU {gpu} had uncorrectable memory errors and 0 rows were remapped",
        skips="Skipping this test due to previously detected uncorrectable row remapping.",
    ),
    "half-lanes": Finding(
        *("pcie", 46, 13, 5),
        "GPU {gpu} is running at PCI link width 8X, which is below the minimum allowed link generation of 16 "
        "(parameter 'min_pci_width') Check DCGM and system configuration. This error may be eliminated with an "
        "updated configuration.",
        times=2,  # pinned memory, and memory that is not
    ),
}
"""By fault."""
DOUBLE_BIT_ERROR: "Final" = 214
"""Code of cudaError_t."""
OF_CUDA: "Final" = {
    True: Finding(
        *("memory", 57, 10, 2),
        "CUDA APIs have indicated that a double-bit ECC error has occured on GPU {gpu}. Run a field diagnostic on the "
        "GPU.",
    ),
    False: Finding("memory", 51, 6, 1, f"Error using CUDA API cuInit {_TRIAGE}"),
}
"""Findings of the fault `gpu-error`, by its being DOUBLE_BIT_ERROR. The API that fails is assumed."""
RETURNS: "Final" = {
    "well": (0, "Success"),
    "failed": (-30, "DCGM GPU Diagnostic returned an error"),
    "running": (-39, "A diag instance is already running, cannot run a new diag until the current one finishes"),
    "isolate": (-51, "The diagnostic returned an error that indicates the need to drain the GPU"),
    "no nvml": (-56, "Cannot perform the requested operation because NVML doesn't exist on this system."),
}
"""dcgmReturn_t, whose lowest byte dcgmi exits with, and what errorString calls it."""
ISOLATE: "Final" = 2
"""The severity for which dcgmi exits with "isolate"."""
