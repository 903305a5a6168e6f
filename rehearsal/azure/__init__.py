"""A simulated Azure subscription, spoken to by the real Pulumi engine in azure-native's place.

`provider` is the gRPC resource provider; `cloud` the subscription behind it and `operations` what happens in it;
`resources` holds what each resource type asks for and does; `models` checks every input against the published models;
`machines` and `cluster_api` make an agent pool's machines appear in the local control plane. `subscription.yaml` is
what the subscription offers, and which requests fail (`request_faults`). `access` decides who gets into a cluster;
`kubelogin` logs a program in where the cluster uses Entra ID; `autoscaler` changes a pool's count as the cluster
autoscaler does. What is inside the machines is not here (`rehearsal.machines`).
"""
