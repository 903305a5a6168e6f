package operations

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
)

// AWSOperationsProvider says that this build reads no logs of AWS.
func AWSOperationsProvider(context.Context, map[config.Key]string, *Resource) (Provider, error) {
	return nil, errors.New("the rehearsal's engine is built without `pulumi logs` for AWS")
}

// GCPOperationsProvider says that this build reads no logs of Google Cloud.
func GCPOperationsProvider(context.Context, map[config.Key]string, *Resource) (Provider, error) {
	return nil, errors.New("the rehearsal's engine is built without `pulumi logs` for Google Cloud")
}
