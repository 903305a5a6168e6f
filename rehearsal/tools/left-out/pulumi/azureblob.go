package azureblob

import (
	"context"
	"errors"
	"net/url"

	"gocloud.dev/blob"
)

// Scheme of state in Azure Blob Storage.
const Scheme = "azblob"

func init() { blob.DefaultURLMux().RegisterBucket(Scheme, &URLOpener{}) }

// URLOpener opens nothing.
type URLOpener struct {
	MakeClient        func()
	ServiceURLOptions struct{}
}

// NewDefaultClient is what URLOpener is made with.
func NewDefaultClient() {}

// NewDefaultServiceURLOptions is what URLOpener is made with.
func NewDefaultServiceURLOptions() *struct{} { return &struct{}{} }

// OpenBucketURL says that this build has no such backend.
func (*URLOpener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, errors.New("the rehearsal's engine is built without the state backend azblob://; use file://")
}
