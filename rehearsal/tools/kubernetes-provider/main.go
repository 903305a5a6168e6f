// The Kubernetes resource provider, as its own main package starts it, with one difference: that one embeds copies
// of two files that its repository generates and its module lacks; this one reads them from beside the program, where
// rehearsal/tools/recipes.py puts them (in Pulumi's plugin folder).
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	provider.Serve("kubernetes", version.Version, beside("schema.json"), beside("terraform-mapping.json"))
}

func beside(name string) []byte {
	program, err := os.Executable()
	if err != nil {
		fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(filepath.Dir(program), name))
	if err != nil {
		fatal(err)
	}
	return content
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "pulumi-resource-kubernetes:", err)
	os.Exit(1)
}
