package resource

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

// LeftOut answers for every component resource: it says that this build has none.
var LeftOut ResourceProvider = &ResourceProviderFuncs{ConstructF: func(
	_ *pulumi.Context, typ, name string, _ provider.ConstructInputs, _ pulumi.ResourceOption,
) (*provider.ConstructResult, error) {
	return nil, fmt.Errorf(
		"%s (%s): the rehearsal's Kubernetes provider is built without component resources; use helm.sh/v3:Release, "+
			"or single resources", typ, name)
}}
