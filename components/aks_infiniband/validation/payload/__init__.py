"""The program inside the pods of a validation: standard library only, Python 3.9 or later.

The files of this package travel in a ConfigMap and run as ``python3 -m payload.await_nodes`` and
``python3 -m payload.validate``. Every path comes by argument, every fact about the pod by environment.
"""
