// A language host that generates packages and does nothing else, for `pulumi package gen-sdk`: the hosts that can be
// built are older than that command's question.
// The language is in the name under which it is started, such as pulumi-language-nodejs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

type generator struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	language string
}

func (g *generator) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

func (g *generator) GeneratePackage(
	ctx context.Context, asked *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(asked.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(asked.Schema), &spec); err != nil {
		return nil, err
	}
	pkg, wrong, err := schema.BindSpec(spec, schema.NewCachedLoader(loader), schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	if wrong.HasErrors() {
		return nil, wrong
	}
	files, err := g.files(pkg, asked.Local, schema.NewCachedLoader(loader))
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		file := filepath.Join(asked.Directory, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.GeneratePackageResponse{}, nil
}

func (g *generator) files(pkg *schema.Package, local bool, loader schema.ReferenceLoader) (map[string][]byte, error) {
	switch g.language {
	case "nodejs":
		return nodejs.GeneratePackage("pulumi", pkg, nil, nil, local, loader)
	case "go":
		return golang.GeneratePackage("pulumi", pkg, nil)
	case "python":
		return python.GeneratePackage("pulumi", pkg, nil, loader)
	}
	return nil, fmt.Errorf("no generator for %s", g.language)
}

func main() {
	language := strings.TrimPrefix(filepath.Base(os.Args[0]), "pulumi-language-")
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &generator{language: language})
			return nil
		},
	})
	if err == nil {
		fmt.Println(handle.Port)
		err = <-handle.Done
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
