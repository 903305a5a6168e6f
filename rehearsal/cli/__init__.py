"""The command `rehearsal`, and a shell in a rehearsal that was kept. Its work is elsewhere."""
