"""The table of who is named in docs/judging.md, from the payload's own."""

from aks_infiniband.validation.payload.programs.endings import CLIENTS, NAMED, SERVERS

BEGIN, END = "<!-- endings -->\n", "<!-- end of endings -->"


def table() -> str:
    """A row for each way in which a client can end, a column for each of its server."""
    head = ["client, and its server →", *SERVERS]
    rows = [[f"`{client}`", *(NAMED[client, server] for server in SERVERS)] for client in CLIENTS]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    means = [f"| `{name}` | {CLIENTS.get(name, '')} | {SERVERS.get(name, '')} |" for name in {**CLIENTS, **SERVERS}]
    return "\n".join([*lines, "", "| ending | of a client | of its server |", "|---|---|---|", *means, ""])


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"
