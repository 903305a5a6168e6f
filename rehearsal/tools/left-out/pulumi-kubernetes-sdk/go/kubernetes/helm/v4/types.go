package v4

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// RepositoryOpts says where a chart comes from. Only component resources make one.
type RepositoryOpts struct {
	CaFile   pulumi.AssetOrArchive
	CertFile pulumi.AssetOrArchive
	KeyFile  pulumi.AssetOrArchive
	Password *string
	Repo     *string
	Username *string
}
