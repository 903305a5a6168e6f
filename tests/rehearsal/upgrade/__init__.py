"""A stack that users have deployed, and the changes of today's program in it: see README.md in this folder."""
