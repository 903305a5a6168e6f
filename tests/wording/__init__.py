"""Counts the habits of language that STYLE.md names, in every text of the repository that a person reads.

`python -m tests.wording` compares the counts with their ceilings, and `make style` lowers the ceilings. Vale checks
prose too, but it does not have ceilings, and cannot distinguish a message from another string of a program.
"""
