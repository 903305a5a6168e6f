"""The output of a rehearsal: progress and tables for people, `result.json` for other programs.

Nothing here starts or changes anything.
"""
