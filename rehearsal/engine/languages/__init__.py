"""The hosts with which the engine runs programs in YAML and TypeScript. The hosts are built for tests that require
them.

Programs that every rehearsal needs are built in `tools`, under a separate key.
"""
