"""Makes the Helm chart of the checks from what the components declare: `python -m chart FOLDER`.

The components run against mocks, once for every kind of pool. Common parts of all kinds become the templates;
differences become one table, by what they depend on. So no object of the chart is written by hand.
"""
