"""A stack that users have deployed, and what becomes of it with today's program: see README.md beside this."""
