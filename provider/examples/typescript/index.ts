import * as pulumi from "@pulumi/pulumi";

interface RdmaClusterArgs {
    /** The settings by their keys in a stack file. Default: those of the stack file. */
    settings?: Record<string, unknown>;
    registryCredentials?: pulumi.Input<string>;
}

/** The component by its token. What `pulumi package add` generates has a class for each component. */
class RdmaCluster extends pulumi.ComponentResource {
    declare public readonly clusterName: pulumi.Output<string>;
    declare public readonly kubeconfig: pulumi.Output<string>;
    declare public readonly pools: pulumi.Output<Record<string, Record<string, unknown>>>;

    constructor(name: string, args: RdmaClusterArgs = {}, opts?: pulumi.ComponentResourceOptions) {
        const outputs = { clusterName: undefined, kubeconfig: undefined, pools: undefined };
        super("aks-infiniband:index:RdmaCluster", name, { ...outputs, ...args }, opts, true);
    }
}

// Its settings are those of the stack file.
const rdma = new RdmaCluster("rdma");

export const clusterName = rdma.clusterName;
export const kubeconfig = rdma.kubeconfig;
export const pools = rdma.pools;
