"""Makes the Helm chart of the checks from what the components declare: `python -m chart FOLDER`.

The components run against mocks, once for every kind of pool. What all kinds have in common becomes the templates; what
differs becomes one table, by what it depends on. So no object of the chart is written by hand.
"""
