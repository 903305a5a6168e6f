"""What every stack and every example declares, recorded: see README.md beside this."""
