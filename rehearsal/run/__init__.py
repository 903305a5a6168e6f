"""The parts of one run: its folder, the speed of its clock, the machine sizes that its stack file describes.

Everything else may import this room; it imports nothing of the rehearsal.
"""
