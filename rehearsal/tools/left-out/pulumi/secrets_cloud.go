package cloud

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// Type of the secrets that a cloud's key service guards.
const Type = "cloud"

var errLeftOut = errors.New("the rehearsal's engine is built without the secrets providers of clouds " +
	"(awskms, azurekeyvault, gcpkms, hashivault); use a passphrase")

// EditProjectStack says that this build has no such secrets.
func EditProjectStack(*workspace.ProjectStack, json.RawMessage) error { return errLeftOut }

// NewCloudSecretsManagerFromState says that this build has no such secrets.
func NewCloudSecretsManagerFromState(json.RawMessage) (secrets.Manager, error) {
	return nil, errLeftOut
}

// NewCloudSecretsManager says that this build has no such secrets.
func NewCloudSecretsManager(*workspace.ProjectStack, string, bool) (secrets.Manager, error) {
	return nil, errLeftOut
}
