"""What a value may be only in view of others: one module a topic, each with a `check`; `topics` runs them all."""
