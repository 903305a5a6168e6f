"""What a Pulumi program declares, found without an engine: tests and benchmarks run programs with it."""
