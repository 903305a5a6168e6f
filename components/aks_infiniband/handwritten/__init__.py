"""Reading of outside data, above all of files that people write by hand: one defensive way, one kind of error.

Never a traceback, and never more of a file's content in an error than the value that is wrong. `form` holds documents
against the form that they must have.
"""

from aks_infiniband.handwritten.json_text import json_document, opened, plain_data
from aks_infiniband.handwritten.words import HandwrittenError, first_lines, place, shortened, word
from aks_infiniband.handwritten.yaml_text import MOST_BYTES, content, parse, read

__all__ = [
    "MOST_BYTES", "HandwrittenError", "content", "first_lines", "json_document", "opened", "parse", "place",
    "plain_data", "read", "shortened", "word",
]  # fmt: skip
