"""What workloads may not do in a namespace of theirs: all that Pod Security's baseline refuses, but for IPC_LOCK."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.options import child_options
from aks_infiniband.workload.pods import NAMESPACE

_NAME: Final = "aks-infiniband-workloads"
_CAPABILITIES: Final = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "IPC_LOCK"),
)
"""Those of the level baseline (Kubernetes, "Pod Security Standards", read 2026-11-22), and the one with which a pod
registers memory."""
_SYSCTLS: Final = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
)
_SELINUX: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")


def _each(condition: str) -> str:
    """A rule about the security context of the pod and of each container."""
    return f"variables.contexts.all(s, {condition})"


def policy_spec() -> dict[str, Any]:
    """The spec of a ValidatingAdmissionPolicy (Kubernetes 1.30 and later), with the rules of `baseline` in 1.34."""
    spec, shared = "object.spec", ("hostNetwork", "hostPID", "hostIPC")
    rules = {
        "the machine's namespaces": " && ".join(f"!{spec}.?{field}.orValue(false)" for field in shared),
        "host paths": f"!{spec}.?volumes.orValue([]).exists(v, has(v.hostPath))",
        "host ports": "variables.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))",
        "probes and lifecycle hooks of other hosts": "variables.containers.all(c, "
        "[c.?livenessProbe, c.?readinessProbe, c.?startupProbe, c.?lifecycle.?postStart, c.?lifecycle.?preStop]"
        ".all(h, h.?httpGet.?host.orValue('') == '' && h.?tcpSocket.?host.orValue('') == ''))",
        "privileged containers": _each("!s.?privileged.orValue(false)"),
        "host processes": _each("!s.?windowsOptions.?hostProcess.orValue(false)"),
        f"capabilities other than {', '.join(_CAPABILITIES)}": _each(
            f"s.?capabilities.?add.orValue([]).all(c, c in {list(_CAPABILITIES)})"
        ),
        "an unmasked /proc": _each("s.?procMount.orValue('Default') == 'Default'"),
        "unconfined seccomp": _each("s.?seccompProfile.?type.orValue('') != 'Unconfined'"),
        "unconfined AppArmor": _each("s.?appArmorProfile.?type.orValue('') != 'Unconfined'"),
        "SELinux users, roles and types": _each(
            "s.?seLinuxOptions.?user.orValue('') == '' && s.?seLinuxOptions.?role.orValue('') == '' && "
            f"s.?seLinuxOptions.?type.orValue('') in {list(_SELINUX)}"
        ),
        "unsafe sysctls": f"{spec}.?securityContext.?sysctls.orValue([]).all(s, s.name in {list(_SYSCTLS)})",
    }
    variables = {
        "containers": f"{spec}.containers + {spec}.?initContainers.orValue([])"
        f" + {spec}.?ephemeralContainers.orValue([])",
        "contexts": f"(variables.containers + [{spec}]).filter(c, has(c.securityContext)).map(c, c.securityContext)",
    }
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
                for operation, resource in (("CREATE", "pods"), ("UPDATE", "pods/ephemeralcontainers"))
            ]
        },
        "variables": [{"name": name, "expression": expression} for name, expression in variables.items()],
        "validations": [
            {"expression": rule, "message": f"a namespace of RDMA workloads refuses {what}"}
            for what, rule in rules.items()
        ],
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadGuardArgs:
    """What a WorkloadGuard takes."""

    namespaces: Sequence[str] = (NAMESPACE,)
    """The namespaces that it guards."""
    name: str = _NAME
    """Name of the policy and of its binding in the cluster."""


class WorkloadGuard(pulumi.ComponentResource):
    """Keeps whoever may edit workloads from becoming the machines' administrator.

    RDMA workloads add IPC_LOCK, which of Pod Security's levels only `privileged` admits; this refuses the rest of what
    that level admits. Not for pools of mode driver-only, whose pods are privileged.
    """

    def __init__(self, name: str, *, args: WorkloadGuardArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:WorkloadGuard", name, None, opts)
        options = child_options(self, opts)
        metadata: Any = {"name": args.name, "labels": labels("workload-guard", "workload")}
        spec: Any = policy_spec()
        policy = k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
            name, metadata=metadata, spec=spec, opts=options
        )
        where = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(args.namespaces)}
        binding: Any = {
            "policy_name": args.name,
            "validation_actions": ["Deny"],
            "match_resources": {"namespace_selector": {"match_expressions": [where]}},
        }
        k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
            name, metadata=metadata, spec=binding, opts=child_options(self, opts, depends_on=[policy])
        )
        self.register_outputs({})
