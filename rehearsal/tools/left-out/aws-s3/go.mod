// In place of the AWS SDK, of which the state backend uses one type when it copies within S3.
module github.com/aws/aws-sdk-go-v2/service/s3

go 1.26.0
