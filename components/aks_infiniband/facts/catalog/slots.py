"""Where HCAs and GPUs sit in each size, as far as it is known.

Published: Azure's own NCCL topology files, ndv2, ndv4 and ndv5 (Azure/azhpc-images, topology/).
Observed: ResourceSlices of live MI300X and GB300 nodes (kubernetes-sigs/dranet, AKS examples); `lspci` on HB120rs_v3
(flux-framework's Azure notes) and the AKS InfiniBand guide, which names ibP257p0s0 on it.
"""

from typing import Final

from aks_infiniband.facts.catalog.machine import PciSlot, Processor, Slots, counted_up

FIRST_HCA: Final = 0x0101
"""PCI domain of the first HCA, 257, on every size where it is known."""
FIRST_GPU: Final = 0x0001
"""PCI domain of the first GPU on every amd64 size where it is known."""


def _slots(numa_nodes: dict[int, int], switches: dict[int, int] | None = None) -> tuple[PciSlot, ...]:
    """numa_nodes: of each PCI domain, in device order. switches: by PCI domain."""
    behind = switches or {}
    return tuple(
        PciSlot(domain=domain, numa_node=numa_node, switch=behind.get(domain))
        for domain, numa_node in numa_nodes.items()
    )


NDV2: Final = Slots(
    hcas=_slots({0x0101: 0}),
    gpus=_slots({domain: 0 if domain <= 4 else 1 for domain in range(1, 9)}),
    source="published",
    processor=Processor(vendor="GenuineIntel", family=6, model=85, numa_nodes=2, link_speed="16 GT/s"),
)

_NDV4_HCAS: Final = {0x0101: 1, 0x0102: 1, 0x0103: 0, 0x0104: 0, 0x0105: 3, 0x0106: 3, 0x0107: 2, 0x0108: 2}
_NDV4_GPUS: Final = {0x0001: 1, 0x0002: 1, 0x0003: 0, 0x0004: 0, 0x000B: 3, 0x000C: 3, 0x000D: 2, 0x000E: 2}
NDV4: Final = Slots(
    # One switch a NUMA node, numbered like it, carries two GPUs and two HCAs.
    hcas=_slots(_NDV4_HCAS, {domain: numa + 1 for domain, numa in _NDV4_HCAS.items()}),
    gpus=_slots(_NDV4_GPUS, {domain: numa + 1 for domain, numa in _NDV4_GPUS.items()}),
    source="published",
    processor=Processor(vendor="AuthenticAMD", family=23, model=49, numa_nodes=4, link_speed="16 GT/s"),
)

_NDV5_GPUS: Final = (0x0001, 0x0002, 0x0003, 0x0008, 0x0009, 0x000A, 0x000B, 0x000C)
_NDV5_HCAS: Final = tuple(range(FIRST_HCA, FIRST_HCA + 8))
NDV5: Final = Slots(
    # Every GPU shares a switch with the HCA of its own number; four of them make a NUMA node.
    hcas=_slots(
        {domain: n // 4 for n, domain in enumerate(_NDV5_HCAS)}, {domain: n + 1 for n, domain in enumerate(_NDV5_HCAS)}
    ),
    gpus=_slots(
        {domain: n // 4 for n, domain in enumerate(_NDV5_GPUS)}, {domain: n + 1 for n, domain in enumerate(_NDV5_GPUS)}
    ),
    source="published",
    processor=Processor(vendor="GenuineIntel", family=6, model=143, numa_nodes=2, link_speed="32.0 GT/s PCIe"),
)

MI300X: Final = Slots(hcas=counted_up(FIRST_HCA, 8), gpus=counted_up(FIRST_GPU, 8), source="observed")
"""Its HCAs were seen; its GPUs are counted up."""

GRACE_BLACKWELL: Final = Slots(
    hcas=counted_up(FIRST_HCA, 4),
    gpus=tuple(
        PciSlot(domain=domain, bus=0x06, numa_node=numa_node)
        for domain, numa_node in ((0x0008, 0), (0x0009, 0), (0x0018, 1), (0x0019, 1))
    ),
    source="observed",
)
"""Seen on GB300; GB200 has the same board with ConnectX-7 and is taken to be alike."""

ONE_HCA: Final = Slots(hcas=counted_up(FIRST_HCA, 1), source="observed")
"""HBv3, where it was seen, and its successors HBv4 and HX, which are taken to be alike."""

UNKNOWN_FOUR: Final = Slots(hcas=counted_up(FIRST_HCA, 4), source="assumed")
"""HBv5: it is not published where its four HCAs sit."""

UNKNOWN: Final = Slots(hcas=counted_up(FIRST_HCA, 1), source="assumed")
"""HC and HBv2: a report of HBv2 has the HCA in another PCI domain (azhpc-images, pull request 44)."""
