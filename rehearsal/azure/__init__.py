"""A simulated Azure subscription, spoken to by the real Pulumi engine in azure-native's place.

`provider` is the gRPC resource provider; `cloud` the subscription behind it and `operations` what happens in it;
`resources` is what each resource type asks
and does; `models` checks every input against the published models; `machines` and `cluster_api` make an agent pool's
machines appear in the local control plane. `subscription.yaml` is what the subscription offers, and what of it fails
(`faults`). `access` says who gets into a cluster, `kubelogin` is how a program does where Entra ID is asked, and
`autoscaler` lets whoever rehearses change a pool as the cluster autoscaler does.
"""
