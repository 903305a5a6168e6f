"""The programs that a rehearsal runs: pinned as Go modules here, built into `.tools/`."""
