// In place of the generated Go SDK, of which the provider's Helm code uses one type.
module github.com/pulumi/pulumi-kubernetes/sdk/v4

go 1.26.0

require github.com/pulumi/pulumi/sdk/v3 v3.224.0
