// In place of the clients of Google's services, of which a library for retries names one type.
module google.golang.org/api

go 1.26.0
