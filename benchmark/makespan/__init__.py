"""How long deployments take at least by the rehearsal's tables: our program's, and the public guides' order."""
