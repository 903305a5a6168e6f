"""The least duration of deployments by the rehearsal's tables: our program's, and the public guides' order."""
