"""The Pulumi program: the stack's configuration, one component, its outputs."""

import os
import signal

import pulumi
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.terminal import unforeseen

# The engine ends a program with this signal once a resource has failed. Without a traceback among the diagnostics: by
# this exit code the language host knows that the cause has been reported (pulumi, pulumi-language-python).
signal.signal(signal.SIGINT, lambda *_: os._exit(32))

try:
    stack = load()
    if stack.settings.preflight:
        from aks_infiniband_cli.preflight.at_start import check_first

        check_first(stack)
    cluster = RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack))

    pulumi.export("clusterName", cluster.cluster_name)
    pulumi.export("kubeconfig", cluster.kubeconfig)
    pulumi.export("pools", cluster.pools)
    # Settings of pods, and sample Jobs, are long, and a preview prints each output whole of which a part changes.
    pulumi.export("workload", f"aks-infiniband workload --stack {pulumi.get_stack()}")
except pulumi.RunError:
    raise
except Exception as error:  # a user never gets a traceback of the lines above, whatever it is
    raise pulumi.RunError(unforeseen(error)) from error
