package v2

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider/resource"

// NewConfigFileProvider stands for kubernetes:yaml/v2:ConfigFile.
func NewConfigFileProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return resource.LeftOut
}

// NewConfigGroupProvider stands for kubernetes:yaml/v2:ConfigGroup.
func NewConfigGroupProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return resource.LeftOut
}
