"""Recordings of the declarations of every stack and every example: see README.md in this folder."""
