"""A stack that users have deployed, and what today's program changes in it: see README.md beside this."""
