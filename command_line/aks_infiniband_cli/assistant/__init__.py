"""For assistants: a server of the Model Context Protocol, which only reads."""
