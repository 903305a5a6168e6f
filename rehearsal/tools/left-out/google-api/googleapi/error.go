package googleapi

import "fmt"

// Error is how a service of Google's refuses. Nothing in this build calls one.
type Error struct {
	Code    int
	Message string
	Body    string
	Details []any
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }
