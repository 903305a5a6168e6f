"""Updates, and the chain of resources that made each as long as it was."""

import json
import re
from typing import Any

from aks_infiniband_cli.report.timeline import from_engine, from_result, longest_chain, table
from aks_infiniband_cli.report.timeline_page import html

from tests.cases import Case
from tests.unit.command_line.test_timeline import PREFIX, TIMES, event_log, result, state


def outcome_of_timeline(case: Case) -> Any:
    """The chain, what each resource waited for, and the table of an update. `statuses` of resources by name; `more`
    resources by URN: begin, end, provider, and what they depend on; `alone`: the others took no part.
    `event`: the times are those of the engine's log, of which each event has these differences.
    """
    made, stored = result(**case.get("statuses", {})), state()
    made["resources"] = [] if case.get("alone") else made["resources"]
    for name, (start, end, provider, *dependencies) in case.get("more", {}).items():
        urn, others = f"{PREFIX}{name}", [f"{PREFIX}{each}" for each in dependencies]
        made["resources"].append({"urn": urn, "start_s": start, "end_s": end, "status": "create"})
        by = {"provider": f"{PREFIX}{provider}::0000-id"} if provider else {}
        if urn not in TIMES:
            stored["deployment"]["resources"].append({"urn": urn, "custom": True, "dependencies": others, **by})
    events = [json.dumps({**json.loads(line), **case.get("event", {})}) for line in event_log()]
    spans = from_engine(events, stored) if "event" in case else from_result(made, stored)
    page = html(spans, "up")[0].partition("What waited for what")[2]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", page, re.DOTALL)]
    return {
        "chain": [f"{link.seconds:g} s {'before ' if link.waited else ''}{link.name}" for link in longest_chain(spans)],
        "end": max(span.end for span in spans),
        "waits for": {name: waits for *_, name, waits in rows},
        "table": table(spans, longest=2).splitlines(),
    }
