package v4

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider/resource"

// NewChartProvider stands for kubernetes:helm.sh/v4:Chart.
func NewChartProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return resource.LeftOut
}
