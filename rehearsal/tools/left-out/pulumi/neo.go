package neo

import (
	"errors"

	"github.com/spf13/cobra"
)

// NewNeoCmd says that this build has no assistant.
func NewNeoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "neo",
		Short: "Left out of the rehearsal's engine",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the rehearsal's engine is built without `pulumi neo`")
		},
	}
}
