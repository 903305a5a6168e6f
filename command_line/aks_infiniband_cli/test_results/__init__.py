"""Reports as the results of a test run, in the formats that programs for continuous integration read.

Nothing is judged here: a verdict is the report's.
"""
