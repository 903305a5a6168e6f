"""Writes the schema's snapshot again: `python -m tests.unit.provider.snapshot`."""

import json

from aks_infiniband.provider.host import Provider

from tests.unit.provider.test_schema import SNAPSHOT

if __name__ == "__main__":
    schema = json.loads(Provider().schema or "")
    SNAPSHOT.write_text(json.dumps({**schema, "version": ""}, indent=1, ensure_ascii=False) + "\n")
