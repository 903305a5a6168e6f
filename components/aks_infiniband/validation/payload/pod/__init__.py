"""One pod of a run, whatever the run is for: its arguments, its place among the others, and its part in their steps."""
