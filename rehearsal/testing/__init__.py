"""The parts of a rehearsal for tests: a fixture for pytest, and the stack that it brings up."""
