package s3blob

import (
	"context"
	"errors"
	"net/url"

	"gocloud.dev/blob"
)

func init() { blob.DefaultURLMux().RegisterBucket("s3", leftOut{}) }

type leftOut struct{}

func (leftOut) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, errors.New("the rehearsal's engine is built without the state backend s3://; use file://")
}
