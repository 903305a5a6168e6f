"""The output for people: text that others wrote, as text and never as commands to a terminal; and an unforeseen error.

The room imports only the standard library.
"""

from aks_infiniband.terminal.last_resort import unforeseen
from aks_infiniband.terminal.text import one_line, printable, printable_json, text_only

__all__ = ["one_line", "printable", "printable_json", "text_only", "unforeseen"]
