"""NVIDIA's DCGM as the GPU Operator runs it, and what its diagnostics of level 2 look at.

Sources: NVIDIA/gpu-operator v26.3.3 and v26.7.0, assets/state-dcgm/0400_dcgm.yml; NVIDIA/DCGM v4.5.2, which the first
one runs (facts/releases.yaml): nvvs/src/NvidiaValidationSuite.cpp (FillTestVectors), nvvs/plugin_src,
nvvs/diag-skus.yaml.in, dcgmlib/dcgm_errors.h; read 2026-11-26.
"""

from typing import Final

HOST_ENGINE_LABEL: Final = ("app", "nvidia-dcgm")
"""Label of the pods of the DaemonSet, which the operator makes if the ClusterPolicy says `dcgm.enabled: true`."""
HOST_ENGINE_CONTAINER: Final = "nvidia-dcgm-ctr"
HOST_ENGINE_PORT: Final = 5555
"""nv-hostengine's, on all addresses of its pod. Every program that reaches it may run diagnostics: it requires no
password.
"""

LEVEL: Final = 2
"""Level of the diagnostics: the tests software, memory and pcie, "approximately two minutes" (NVIDIA, dcgmi diag)."""
LOOKS_AT: Final = frozenset({"gpu-memory", "gpu-pcie"})
"""The checks of the validation for which level 2 has a test.

Level 2 reads rows of memory that wait to be replaced and tests the memory, and compares the lanes of the PCIe link with
16 (`min_pci_width` of A100 80 GB, H100, H200 and GB300). Copies over PCIe are measured, but not judged: no GPU has a
`min_bandwidth`. Level 2 makes no products, so it meets no GPU that throttles or is slow under load; it does not count
the GPUs that there should be; and a machine with no NVLink up has passed it (NVIDIA/DCGM issue 198, 2024-11-13).
"""
SOFTWARE_CATEGORIES: Final = frozenset(range(3, 9))
"""Categories of an error (`error_category`), DCGM_FR_EC_SOFTWARE_*: a setting, a library, a permission. GPUs are not
broken by it.

Persistence mode is one of them (category 8), and fails the test software.
"""
