"""What many pools and many machines cost: the program, the engine, and a rehearsal."""
