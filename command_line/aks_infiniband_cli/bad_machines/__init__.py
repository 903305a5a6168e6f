"""Evidence of a bad machine. The validation and the light check find one, and `replace` has another take its place."""
