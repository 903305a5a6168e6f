"""From answers to a decision: which transport, on what machines, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import ceil
from typing import Final, Literal

from aks_infiniband.facts.azure_names import has_rdma
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize, Mode
from aks_infiniband.facts.pool import PLACEMENT_GROUP_LIMIT
from aks_infiniband.terminal import page

from aks_infiniband_cli.choose.answers import Answers, Workload
from aks_infiniband_cli.choose.figures import ETHERNET, MODES, SPLIT_INFERENCE, Reason, ipoib, ports, rdma
from aks_infiniband_cli.console import CommandError

Transport = Literal[
    "RDMA shared", "RDMA exclusive", "IPoIB", "RDMA by claims", "InfiniBand without a plugin", "RoCE v2", "TCP"
]
TRANSPORTS: Final[dict[Mode, Transport]] = {
    "rdma-shared": "RDMA shared",
    "sriov": "RDMA exclusive",
    "ipoib": "IPoIB",
    "dra": "RDMA by claims",
    "driver-only": "InfiniBand without a plugin",
}
LEAST_MACHINES: Final = 2
"""Assumed: with fewer GPUs than two machines have, little or nothing crosses between machines."""
_WITH_GPUS: Final = "Standard_ND96isr_H100_v5"
_WITHOUT_GPUS: Final = "Standard_HB176rs_v4"
"""Sizes for a person who names none: those of the stacks in this project."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The choice.

    size, count: the machines; size is None if they are not of Azure's InfiniBand sizes. gpu_driver: None for the
    default of the size. worth_it: True if InfiniBand is worth its price. reasons: why, the weightiest first.
    """

    transport: Transport
    mode: Mode | None
    size: MachineSize | None
    count: int
    gpu_driver: GpuDriver | None
    worth_it: bool
    reasons: tuple[Reason, ...]


def decide(answers: Answers, *, with_infiniband: bool = False) -> Decision:
    """The decision that follows from the answers.

    with_infiniband: choose a way to InfiniBand even if it is not worth its price. Raises CommandError for answers that
    do not go together.
    """
    if answers.fabric != "infiniband":
        return _without_infiniband(answers)
    if answers.vm_size is not None and answers.vm_size not in SIZES and not has_rdma(answers.vm_size):
        text = f"{answers.vm_size} does not have InfiniBand: sizes with InfiniBand have an r after their number"
        return _tcp(answers, None, answers.nodes or 1, [Reason(text=text)])
    size, named = _size(answers)
    count = _count(answers, size)
    against = _not_worth_it(answers, size, count)
    if against and not with_infiniband:
        return _tcp(answers, size, count, against)
    mode, why = _mode(answers, size)
    least, gpu_driver = max(count, 2), _gpu_driver(answers, size)
    return Decision(
        transport=TRANSPORTS[mode],
        mode=mode,
        size=size,
        count=least,
        gpu_driver=gpu_driver,
        worth_it=not against,
        reasons=(*against, *named, *why, *reasons_for(mode, size, least, gpu_driver or size.default_gpu_driver)),
    )


def reasons_for(mode: Mode, size: MachineSize, count: int, gpu_driver: GpuDriver) -> list[Reason]:
    """The gain of a mode on machines of a size, in figures, and the owner of the GPUs' driver if it is not the size's
    default.
    """
    reasons = [ports(size), *(ipoib(size) if mode == "ipoib" else rdma(size)), *_gpus(size, gpu_driver)]
    if size.accelerator is not None and count >= LEAST_MACHINES and mode != "ipoib":
        reasons.append(ETHERNET)
    return [*reasons, *_of_a_rack(size)]


def _of_a_rack(size: MachineSize) -> list[Reason]:
    """The facts on machines that share an NVLink domain that a person must know before renting them."""
    if size.nvlink_domain == 1:
        return []
    text = (
        f"the feature AKSInfinibandSupport must not be registered in the subscription of {size.name}; if your capacity "
        "is an interconnect group, no property of an AKS pool names one: find out from Azure how your machines get "
        "one NVLink domain"
    )
    return [Reason(text=text, source="docs/gb300.md")]


def _gpus(size: MachineSize, owner: GpuDriver) -> list[Reason]:
    """The owner of the GPUs' driver for a size without a default owner, or whose GPUs nothing offers to pods."""
    if size.accelerator is None:
        return []
    gpus = f"{size.accelerator.count} × {size.accelerator.model}"
    if owner == "none":
        owners = " or ".join(each for each in size.gpu_driver_owners if each != "none")
        text = f"gpuDriver is none: no driver is installed for the {gpus}, and pods get no GPU; set it to {owners}"
        return [Reason(text=text)]
    if owner == "operator" and size.default_gpu_driver == "none":
        text = f"gpuDriver operator: AMD's GPU Operator builds the driver of the {gpus} and offers them to pods"
        return [Reason(text=text, source="docs/mi300x.md")]
    return []


def _without_infiniband(answers: Answers) -> Decision:
    text = "the machines' network is Ethernet, not InfiniBand"
    if answers.fabric == "ethernet":
        return _tcp(answers, None, answers.nodes or 1, [Reason(text=text)])
    text = (
        "RDMA over Ethernet needs a network without loss, and NCCL the settings of version 2: GID index 3 and traffic "
        "class 106, which `aks_infiniband.nccl_environment` has; this program's operators are for InfiniBand"
    )
    return Decision(
        transport="RoCE v2",
        mode=None,
        size=None,
        count=answers.nodes or 1,
        gpu_driver=None,
        worth_it=False,
        reasons=(Reason(text=text, source=page("workloads")),),
    )


def _tcp(answers: Answers, size: MachineSize | None, count: int, reasons: list[Reason]) -> Decision:
    more = [SPLIT_INFERENCE] if "inference" in answers.workloads else []
    return Decision(
        transport="TCP",
        mode=None,
        size=size,
        count=count,
        gpu_driver=None,
        worth_it=False,
        reasons=(*reasons, *more),
    )


def _size(answers: Answers) -> tuple[MachineSize, list[Reason]]:
    if answers.vm_size is None:
        usual = usual_size(answers.workloads, answers.gpus)
        text = f"you named no size: {usual.name} is what the project's own stacks have for this; --size takes others"
        return usual, [Reason(text=text)]
    if answers.vm_size not in SIZES:
        (nearest,) = get_close_matches(answers.vm_size, SIZES, n=1, cutoff=0)
        raise CommandError(f"--size {answers.vm_size} is not in the catalogue; the nearest is {nearest}")
    return SIZES[answers.vm_size], []


def usual_size(workloads: Sequence[Workload], gpus: int | None) -> MachineSize:
    """The size for who names none. gpus: as wanted."""
    return SIZES[_WITHOUT_GPUS if not gpus and {*workloads} <= {"mpi", "tcp-ip"} else _WITH_GPUS]


def _count(answers: Answers, size: MachineSize) -> int:
    """The number of machines; those that the GPUs need, or two."""
    gpus = size.accelerator.count if size.accelerator else 0
    if answers.gpus and not gpus:
        raise CommandError(f"--gpus {answers.gpus}: {size.name} has none; leave that out, or name another --size")
    needed = ceil(answers.gpus / gpus) if answers.gpus else None
    if needed is not None and answers.nodes is not None and answers.nodes != needed:
        raise CommandError(f"--gpus {answers.gpus} are {needed} machines of {gpus}, not --nodes {answers.nodes}")
    count = answers.nodes or needed or 2
    if count > PLACEMENT_GROUP_LIMIT:
        raise CommandError(
            f"{count} machines: one fabric takes {PLACEMENT_GROUP_LIMIT} at most; plan several pools. If Azure has "
            "raised the subscription's limit, set cluster.placementGroupLimit and the pool's count in the stack file"
        )
    return count


def _not_worth_it(answers: Answers, size: MachineSize, count: int) -> list[Reason]:
    """Why InfiniBand would be paid for but not used; empty if it would be used."""
    gpus = size.accelerator.count if size.accelerator else 0
    wanted = answers.gpus or gpus * count
    if {*answers.workloads} == {"inference"}:
        text = (
            "inference alone keeps a replica within one machine, and requests come over TCP: smaller GPU machines cost "
            "less; if a model does not fit into one machine, run the command with --with-infiniband"
        )
        return [Reason(text=text)]
    if against := too_few(size, wanted if gpus else 0):
        return against
    if count < 2:
        return [Reason(text="InfiniBand connects at least two machines; the pool has one")]
    return []


def too_few(size: MachineSize, gpus: int) -> list[Reason]:
    """Why a number of GPUs is too small for InfiniBand; empty for enough GPUs, and for none at all."""
    least = LEAST_MACHINES * size.accelerator.count if size.accelerator else 0
    if gpus >= least or not gpus:
        return []
    text = (
        f"{gpus} GPUs are fewer than the {least} of two machines: most of the traffic stays on NVLink within a "
        "machine; one machine, or a smaller GPU size without InfiniBand, costs less"
    )
    return [Reason(text=text)]


def _mode(answers: Answers, size: MachineSize) -> tuple[Mode, list[Reason]]:
    """The mode that serves every workload, and why."""
    workloads, named = answers.workloads, " and ".join(answers.workloads)
    by_verbs = [workload for workload in workloads if workload != "tcp-ip"]
    if answers.verbs and not by_verbs:
        raise CommandError("--verbs: --workload tcp-ip is for programs that use none; leave one of the two out")
    if len(by_verbs) < len(workloads) or answers.verbs is False:
        if not size.ipoib_devices:
            raise CommandError(
                f"programs without verbs use an IPoIB interface. Its name on {size.name} is not published: choose "
                "another --size, or set ipoibDevices in the stack file once you have looked at a machine with `ip link`"
            )
        text = "the programs use no verbs: they bind to net1, an interface with an address on InfiniBand"
        if by_verbs and answers.verbs is not False:
            text = (
                f"{named}: this mode serves them all; tcp-ip binds to net1, an interface with an address on "
                "InfiniBand, and the same pods share every adapter by RDMA"
            )
        return "ipoib", [Reason(text=text, source=MODES)]
    if workloads == ("training",) and size.infiniband.hca_count > 1:
        text = (
            "a training takes whole machines: each pod holds its adapters alone, one for each GPU, which is fastest; "
            "if several jobs share a machine, set networkOperator.mode to rdma-shared"
        )
        return "sriov", [Reason(text=text, source=MODES)]
    text = "up to 63 pods of a machine share every adapter, so that several jobs fit; it is the guide's default"
    if len(workloads) > 1:
        text = f"{named}: this mode serves them all; {text}"
    return "rdma-shared", [Reason(text=text, source=MODES)]


def _gpu_driver(answers: Answers, size: MachineSize) -> GpuDriver | None:
    """The owner of the driver, if it differs from what follows from the size. Without a given owner, GPUs whose driver
    lacks a default owner get the operator, because they would be paid for and unusable. Raises CommandError for an
    impossible answer.
    """
    wanted, usual = answers.gpu_driver, size.default_gpu_driver
    if wanted is None:
        return "operator" if size.accelerator is not None and usual == "none" else None
    if wanted == usual:
        return None
    if size.accelerator is None:
        raise CommandError(f"--gpu-driver {wanted}: {size.name} does not have GPUs; leave the flag out")
    if wanted not in size.gpu_driver_owners:
        raise CommandError(f"--gpu-driver {wanted}: {size.name} takes {' or '.join(size.gpu_driver_owners)}")
    return wanted
