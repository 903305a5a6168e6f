"""The one loop of `rollout`, `upgrade` and `replace`: one machine at a time is held, changed, awaited and measured
with a neighbour, before it or the next one is admitted.

A command brings what it observes, a pure function that decides by it, and the acts. The facts stand in the cluster, so
a second command continues what a killed one has begun.
"""
