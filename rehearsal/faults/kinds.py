"""The faults that a simulated machine can have: what each does, and which keys an entry of a faults file may have."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Mapping
    from typing import Final

RELEASES: "Final" = ("4.5", "25.01")
"""Releases of perftest whose words are recorded (tests/field_recordings/tools.yaml)."""
CURES: "Final" = ("restart", "redeploy")
"""Azure's actions on a machine, the lesser first: a redeployment restarts it too."""
EVENTS: "Final" = ("Freeze", "Reboot", "Redeploy")
"""Scheduled events of Azure that leave the machine to the pool."""
KEYS: "Final[Mapping[str, str]]" = {
    "fault": "the name of a fault",
    "node": "a pattern of node names",
    "device": "a pattern of RDMA device names, such as mlx5_3",
    "gpu": "the index of a GPU, a whole number from 0",
    "place": "a whole number from 0: how many HCAs come before the Ethernet device in the kernel's order",
    "factor": "a number above 0",
    "times": "a whole number from 1: how often the fault happens before it is gone",
    "pod": "a pattern of pod names",
    "rateGbps": "a number above 0: the signalling rate of a port in Gb/s",
    "answer": "what a registry answers: unauthorized, denied, not-found, throttled or unreachable",
    "message": "the last line of a container's log",
    "release": "a release of perftest: 4.5 or 25.01",
    "curedBy": "restart or redeploy: after it the machine is sound; a redeployment cures what a restart does",
    "cured": "the names of nodes that are sound again, which the rehearsal writes",
    "event": "what Azure announces: Freeze, Reboot or Redeploy",
    "minutes": "a number above 0: how long before it happens; another one postpones it",
    "error": "a number of cudaError_t, such as 802 for NVSwitches that are not set up, or 214 for memory that fails",
}
"""Every key that an entry may have, and what its value must be. `node` and `device` left out mean all."""


class MachineFault:
    """One fault.

    does: its effect on the machine; requires: the keys that an entry must have in addition to `fault`; allows: those
    that it may have in addition to them, `node`, `curedBy` and `cured`.
    """

    def __init__(
        self, name: str, does: str, *, requires: "tuple[str, ...]" = (), allows: "tuple[str, ...]" = ()
    ) -> None:
        self.name, self.does, self.requires, self.allows = name, does, requires, allows

    @property
    def keys(self) -> "tuple[str, ...]":
        """The keys that an entry may have."""
        return ("fault", *self.requires, "node", *self.allows, "curedBy", "cured")


_ALL: "Final" = (
    # Faults of the hardware: there until a person changes the file.
    MachineFault("link-down", "the port is Down and Polling, and IPoIB on it is down", allows=("device",)),
    MachineFault("half-rate", "the link trained with half its lanes", allows=("device",)),
    MachineFault(
        "other-rate",
        "the port has the rate `rateGbps`, and the table of machine sizes is wrong",
        requires=("rateGbps",),
        allows=("device",),
    ),
    MachineFault("missing", "the HCA is not on the PCI bus", allows=("device",)),
    MachineFault("missing-gpu", "the GPU of index `gpu` is not on the PCI bus", requires=("gpu",)),
    MachineFault("partition", "port and IPoIB are on a separate partition", allows=("device",)),
    MachineFault("placement-group", "the machine is in another placement group, which cannot reach this one"),
    MachineFault("no-metadata", "the machine's instance metadata service does not answer"),
    MachineFault("no-peermem", "nvidia-peermem cannot be loaded"),
    MachineFault("closed-kernel-modules", "NVIDIA's kernel modules are the closed ones, without DMA-BUF"),
    MachineFault(
        "no-nvlink", "the NVLink fabric of the rack has not taken the machine's GPUs in: its state is In Progress"
    ),
    MachineFault("other-clique", "the machine is in another NVLink domain than the others of its rack"),
    MachineFault("no-imex", "the IMEX daemon on the machine never says READY"),
    # These rename devices. Such faults break nothing; they reveal a program that distinguishes devices by their names.
    MachineFault(
        "ethernet", "the Ethernet device stands at `place` among the HCAs, and not behind them", requires=("place",)
    ),
    MachineFault("hpc-image-names", "the HCAs are mlx5_ib0 and on, the Ethernet device mlx5_an0"),
    # Nor does this.
    MachineFault("perftest", "the machine's containers have perftest of this `release`", requires=("release",)),
    # Met by a program that uses the hardware: each of these can happen a number of `times`.
    MachineFault(
        "slow",
        "bandwidth is `factor` times what the link carries, and the link does not show it",
        requires=("factor",),
        allows=("device", "times"),
    ),
    MachineFault(
        "shared-pcie",
        "the HCAs share a PCIe link: bandwidth is `factor` times what it is while another of them is used too",
        requires=("factor",),
        allows=("device",),
    ),
    MachineFault(
        "latency",
        "RDMA's latency is `factor` times what it is",
        requires=("factor",),
        allows=("device", "times"),
    ),
    MachineFault("hang", "RDMA tools that use the HCA never end", allows=("device", "times")),
    MachineFault(
        "flapping", "the link goes down for a moment whenever it is used, and counts that", allows=("device", "times")
    ),
    MachineFault(
        "packets-lost", "what the HCA sends or is sent is lost, though its port is Active", allows=("device", "times")
    ),
    MachineFault(
        "gpu-error",
        "CUDA says `error` of the GPU of index `gpu`: of its work, from 200 to 799, else as soon as it is chosen",
        requires=("gpu", "error"),
    ),
    MachineFault(
        "throttled-gpu",
        "the GPU of index `gpu` is too hot under load: NVML says hardware slowdown, and it does `factor` of its work",
        requires=("gpu", "factor"),
    ),
    MachineFault(
        "slow-gpu", "the GPU of index `gpu` does `factor` of its work, and nothing says why", requires=("gpu", "factor")
    ),
    MachineFault(
        "other-work",
        "another process works on the GPU of index `gpu`, which NVML shows, and leaves `factor` of it for others",
        requires=("gpu", "factor"),
    ),
    MachineFault("no-graphs", "CUDA captures no graph on the GPU of index `gpu`", requires=("gpu",)),
    MachineFault("half-lanes", "the GPU of index `gpu` has half of its PCIe lanes", requires=("gpu",)),
    MachineFault(
        "gpu-memory",
        "the memory of the GPU of index `gpu` had an uncorrected error, and a row of it waits to be replaced",
        requires=("gpu",),
    ),
    MachineFault("gpu-hang", "taking memory of the GPU of index `gpu` never ends", requires=("gpu",)),
    MachineFault(
        "congestion",
        "NCCL has `factor` of the machine's bandwidth in one of three all-reduces: other traffic comes and goes",
        requires=("factor",),
    ),
    MachineFault("connections-dropped", "what pods of the machine send to other pods vanishes", allows=("times",)),
    MachineFault("port-in-use", "another program listens on the ports of RDMA servers", allows=("times",)),
    MachineFault("no-libibverbs", "NCCL finds no libibverbs, and falls back to sockets", allows=("times",)),
    MachineFault(
        "no-provider", "the container's libibverbs lacks a provider for mlx5, and sees no device", allows=("times",)
    ),
    MachineFault("no-packages", "containers that start do not reach the packages of their image's distribution"),
    # Faults of pods: until a person changes the file, and then its kubelet continues with the pod.
    MachineFault("image-pull", "the images of a pod cannot be pulled; `answer` says why", requires=("pod", "answer")),
    MachineFault(
        "crash", "the containers of an operator's pod crash; `message` is their last line", requires=("pod", "message")
    ),
    MachineFault("lost", "the machine stops answering as soon as a Job's container starts on it"),
    # Faults of the kubelet, and the reaction of AKS's auto-repair: once, when the fault appears in the file.
    MachineFault("node-not-ready", "the kubelet says nothing while the file has the fault; pods continue to run"),
    MachineFault(
        "node-rebooted",
        "the kubelet says nothing, and AKS's auto-repair reboots the machine: every container starts again, and kernel "
        "modules that a person loaded are gone",
    ),
    MachineFault(
        "node-reimaged",
        "a reboot did not help, and AKS's auto-repair reimages the machine too: images, and what a person changed on "
        "its disk, are gone as well",
    ),
    # Nothing is broken: Azure announces it. Without the entry it is cancelled.
    MachineFault(
        "maintenance",
        "Azure announces the `event`, which the node's conditions say; it happens 15 minutes later, or `minutes`",
        requires=("event",),
        allows=("minutes",),
    ),
    MachineFault("slow-ipoib", "IPoIB is `factor` times as fast as it is", requires=("factor",), allows=("times",)),
)
FAULTS: "Final[Mapping[str, MachineFault]]" = {fault.name: fault for fault in _ALL}
"""Every fault by its name."""
