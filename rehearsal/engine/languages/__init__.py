"""The hosts with which the engine runs programs in YAML and TypeScript. They are built for tests that ask for them.

What every rehearsal needs is built in `tools`, under a key of its own.
"""
