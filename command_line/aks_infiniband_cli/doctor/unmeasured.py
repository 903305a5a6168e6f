"""The machines that nothing has measured, and the command that does."""

from aks_infiniband.diagnosis.view import in_namespace, name_of
from aks_infiniband.operators.offered import infiniband_pools
from aks_infiniband.validation.membership import memberships

from aks_infiniband_cli.doctor.snapshot import Snapshot


def to_measure(snapshot: Snapshot) -> list[str]:
    """The commands that measure the pools which no stack has validated, each in a line."""
    own = snapshot.validations_in
    validated = memberships(in_namespace(snapshot.view.jobs, own), [], snapshot.view.nodes).values()
    known = {name for pool in validated for name in pool.present}
    unmeasured = [node for node in snapshot.view.nodes if name_of(node) not in known]
    flags = [f"--pool {name}" if name else "--selector LABEL=VALUE" for name, _ in sorted(infiniband_pools(unmeasured))]
    return [f"doctor: to measure the machines, too: aks-infiniband validate {flag}" for flag in dict.fromkeys(flags)]
