"""The command `aks-infiniband`: what a person at a terminal asks before the bill and in the days after.

A room is a command or a family of them. What the program itself checks too stands in `aks_infiniband`.
"""
