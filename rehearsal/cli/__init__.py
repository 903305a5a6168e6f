"""The command `rehearsal`, and a shell in a rehearsal that was kept. What it does is elsewhere."""
