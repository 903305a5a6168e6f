"""Programs that a pod starts: they are installed, run, watched, and their ends are named."""
