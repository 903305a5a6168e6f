"""Text for people: what others wrote, as text and never as commands to a terminal; links to pages; an unforeseen error.

The room imports the standard library alone.
"""

from aks_infiniband.terminal.last_resort import unforeseen
from aks_infiniband.terminal.pages import page, with_addresses
from aks_infiniband.terminal.text import one_line, printable, printable_json, text_only

__all__ = ["one_line", "page", "printable", "printable_json", "text_only", "unforeseen", "with_addresses"]
