"""The flags by which a command finds a stack in Azure."""

import argparse
from pathlib import Path
from urllib.parse import urlsplit

from aks_infiniband_cli.console import stack_name


def declare_stack(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name a stack and its subscription."""
    parser.add_argument("-s", "--stack", required=True, type=stack_name, metavar="NAME", help="reads Pulumi.NAME.yaml")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="folder of the stack file; default: the current folder"
    )
    parser.add_argument("--subscription", metavar="ID", help="default: the stack's, or $ARM_SUBSCRIPTION_ID")
    endpoint = "of Azure Resource Manager; default: of the stack's cloud"
    parser.add_argument("--endpoint", type=url, metavar="URL", help=endpoint)


def url(text: str) -> str:
    """Azure's clients hand a login to https alone."""
    try:
        parts = urlsplit(text)
        whole = parts.scheme == "https" and parts.hostname and parts.port != 0 and not parts.query
    except ValueError:
        whole = None
    if not whole or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} must be an https:// URL, such as https://management.azure.com")
    return text.rstrip("/")
