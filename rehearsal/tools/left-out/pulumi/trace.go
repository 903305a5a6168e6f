package trace

import (
	"errors"

	"github.com/spf13/cobra"
)

// NewViewTraceCmd says that this build shows no traces.
func NewViewTraceCmd() *cobra.Command { return leftOut("view-trace") }

// NewConvertTraceCmd says that this build converts no traces.
func NewConvertTraceCmd() *cobra.Command { return leftOut("convert-trace") }

func leftOut(name string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: "Left out of the rehearsal's engine",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("the rehearsal's engine is built without `pulumi " + name + "`")
		},
	}
}
