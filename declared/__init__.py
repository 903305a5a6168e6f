"""The declarations of a Pulumi program, found without an engine: tests and benchmarks run programs with it."""
