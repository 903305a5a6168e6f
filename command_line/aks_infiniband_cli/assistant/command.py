"""The command mcp. The protocol's SDK is an extra, so it is imported when the command runs."""

import argparse
from typing import Final

from aks_infiniband.terminal import page

from aks_infiniband_cli.console import Answer, Command
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `mcp`."""
    declare_cluster(parser)
    declare_namespace(parser)


def serve(flags: argparse.Namespace) -> Answer:
    """Serve until the client closes standard input."""
    from aks_infiniband_cli.assistant.server import server  # noqa: PLC0415

    server(flags).run("stdio")
    return Answer(document={}, lines=())


MCP: Final = Command(
    name="mcp",
    help="serve the doctor, the reports and the catalogues to an assistant, read-only",
    description="Serves the Model Context Protocol on standard input and output, for an assistant that starts it "
    f"({page('assistants')}). The command changes nothing, in the cluster and in Azure.",
    example="aks-infiniband mcp --kubeconfig cluster.yaml",
    declare=declare,
    run=serve,
    extra="mcp",
)
