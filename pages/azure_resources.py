"""The table of Azure resources that a rehearsal knows, for docs/rehearse-your-program.md."""

from typing import Final

from rehearsal.azure.functions import FUNCTIONS
from rehearsal.azure.resources import KINDS

_BEGIN: Final = "<!-- azure resources: make docs -->\n"
_END: Final = "<!-- end of azure resources -->"


def with_azure_resources(page: str) -> str:
    """The page with its table written again."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    rows = [f"| `{token}` | `{kind.arm_type}` | {kind.api_version} |" for token, kind in sorted(KINDS.items())]
    functions = ", ".join(f"`{token}`" for token in sorted(FUNCTIONS) if token.startswith("azure-native:"))
    table = ["| type | in Azure | API version |", "|---|---|---|", *rows, "", f"Functions: {functions}."]
    return f"{head}{_BEGIN}" + "\n".join(table) + f"\n{_END}{tail}"
