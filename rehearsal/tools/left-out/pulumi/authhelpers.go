package authhelpers

import (
	"context"

	"gocloud.dev/blob"
)

// GoogleCredentialsMux has no credentials to give: what opens a bucket says that this build has no such backend.
func GoogleCredentialsMux(context.Context) (*blob.URLMux, error) { return blob.DefaultURLMux(), nil }
