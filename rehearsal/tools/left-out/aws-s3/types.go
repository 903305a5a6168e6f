package s3

// CopyObjectInput is what a copy within S3 is asked with. The bucket that this build opens is never one of S3.
type CopyObjectInput struct {
	CopySource *string
}
