"""The data that the pods of a validation leave for each other, as tests put it there and read it."""

import json
from typing import Any


def report_of(fake: Any) -> Any:
    return json.loads(fake.texts("report")["report.json.gz"])


def entry(node: Any, run: Any, facts: Any) -> Any:
    return json.dumps({"run": run, "node": node, "index": 1, "facts": facts})


def member(node: Any, run: Any, rank: Any = 1) -> Any:
    known: dict[str, Any] = {"pod": f"pod-{rank}", "address": "10.244.0.9", "port": 18515, "replaced": 0}
    known |= {"devices": {}, "inactive": [], "networks": {}}
    return json.dumps({"run": run, "rank": rank, "node": node, **known})
