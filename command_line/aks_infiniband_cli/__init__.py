"""The command `aks-infiniband`: for a person at a terminal, before the bill and in the days after.

A room is a command or a family of them. Checks that the program itself makes too stand in `aks_infiniband`.
"""
