"""The cost of many pools and many machines: the program, the engine, and a rehearsal."""
