"""The commands report and timeline: what the validations measured and what an update did when, as HTML and PNG.

Needs the extra `aks-infiniband-cli[report]`: matplotlib and jinja2.
"""
