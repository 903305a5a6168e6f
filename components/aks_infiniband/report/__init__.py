"""The report page: what the validations of a stack's pools measured, as one HTML file and as PNG.

Needs the extra `aks-infiniband[report]`: matplotlib and jinja2. Nothing else of the package imports this one.
"""
