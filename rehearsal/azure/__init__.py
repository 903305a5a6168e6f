"""A simulated Azure subscription, spoken to by the real Pulumi engine in azure-native's place.

`provider` is the gRPC resource provider; `cloud` the subscription behind it and `operations` the work in it;
`resources` holds the needs and actions of each resource type; `models` checks every input against the published models;
`machines` and `cluster_api` make an agent pool's machines appear in the local control plane. `subscription.yaml` is
what the subscription offers, and which requests fail (`request_faults`). `access` decides on logins to a cluster;
`kubelogin` logs a program in if the cluster uses Entra ID; `autoscaler` changes a pool's count as the cluster
autoscaler does. The inside of the machines is not here (`rehearsal.machines`).
"""
