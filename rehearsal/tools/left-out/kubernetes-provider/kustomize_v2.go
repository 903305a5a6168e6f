package v2

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider/resource"

// NewDirectoryProvider stands for kubernetes:kustomize/v2:Directory.
func NewDirectoryProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return resource.LeftOut
}
