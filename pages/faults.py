"""The table of the faults of machines for docs/rehearsal.md, from the rehearsal's own description."""

from rehearsal.faults.kinds import FAULTS

BEGIN, END = "<!-- faults -->\n", "<!-- end of faults -->"


def with_faults(page: str) -> str:
    """The page with a row for each fault: its name, its further keys, its effect."""
    before, _, rest = page.partition(BEGIN)
    rows = [
        f"| `{fault.name}` | {', '.join(f'`{key}`' for key in (*fault.requires, *fault.allows))} | {fault.does} |"
        for fault in FAULTS.values()
    ]
    table = "\n".join(["| fault | keys | effect |", "|---|---|---|", *rows, ""])
    return f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}"
