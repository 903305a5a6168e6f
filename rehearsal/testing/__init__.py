"""What tests have of a rehearsal: a fixture for pytest, and the stack that it brings up."""
