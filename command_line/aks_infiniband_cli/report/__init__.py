"""The commands report and timeline: what the validations measured and what an update did when, as HTML and PNG.

Pages need the extra `aks-infiniband-cli[report]`: matplotlib and jinja2. Test results do not.
"""
