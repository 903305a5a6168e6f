"""The scheduled check, which looks at idle nodes with the validation's own eyes, and the exporter of its figures.

The check travels with the rest of the payload, and runs as ``python3 -m payload.light_check.check`` and ``python3 -m
payload.light_check.exporter``.
"""
