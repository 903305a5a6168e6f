"""What is done about a machine that is bad: evidence is kept of it, and another one takes its place.

How it is found is not here: that is the validation's and the light check's.
"""
