"""A decision as a document, and what people read of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from aks_infiniband_cli.choose.decision import Decision
from aks_infiniband_cli.choose.prices import price_command, price_of
from aks_infiniband_cli.console import uncut


def document_of(decision: Decision, region: str) -> dict[str, Any]:
    """For `--output json`; region: of the price."""
    size = decision.size
    return {
        "transport": decision.transport,
        "mode": decision.mode,
        "vm_size": size.name if size else None,
        "count": decision.count,
        "gpu_driver": decision.gpu_driver or (size.default_gpu_driver if size else None),
        "worth_its_price": decision.worth_it,
        "reasons": [{"text": reason.text, "source": reason.source} for reason in decision.reasons],
        "price": _price(size.name, decision.count, region) if size else None,
    }


def _price(vm_size: str, count: int, region: str) -> dict[str, Any]:
    price = price_of(vm_size)
    known: Mapping[str, Any] = {"usd_per_hour": None, "region": region, "read": None}
    if price is not None:
        known = {"usd_per_hour": round(price.usd_per_hour * count, 2), "region": price.region, "read": price.read}
    return {"of": f"{count} × {vm_size}", **known, "ask": price_command(vm_size, region)}


def decision_lines(document: Mapping[str, Any]) -> list[Text]:
    """A decision's document for people."""
    lines = [_headline(document), uncut()]
    for reason in document["reasons"]:
        lines.append(uncut(f"- {reason['text']}"))
        if reason["source"]:
            lines.append(uncut(f"  [{reason['source']}]"))
    return [*lines, *_price_lines(document["price"])]


def decision_table(document: Mapping[str, Any]) -> Group:
    """The same for a terminal: the sources in a separate column."""
    reasons = Table("why", "source", show_edge=False)
    for reason in document["reasons"]:
        reasons.add_row(Text(reason["text"]), Text(reason["source"] or "", style="dim", overflow="fold"))
    return Group(_headline(document), reasons, *_price_lines(document["price"]))


def _headline(document: Mapping[str, Any]) -> Text:
    machines = f" on {document['count']} × {document['vm_size']}" if document["mode"] else ""
    against = "InfiniBand is not worth its price" if document["vm_size"] else "the machines do not have InfiniBand"
    verdict = "" if document["worth_its_price"] else f": {against}"
    style = "bold green" if document["mode"] else "bold yellow"
    return Text(f"{document['transport']}{machines}{verdict}", style=style)


def _price_lines(price: Mapping[str, Any] | None) -> Sequence[Text]:
    if price is None:
        return []
    said = "not known here"
    if price["usd_per_hour"] is not None:
        said = f"{price['usd_per_hour']:.2f} USD an hour in {price['region']} (read {price['read']})"
    told = f"Price of {price['of']}, pay as you go, without system pool, disks and traffic: {said}."
    return [uncut((line, "dim")) for line in ("", f"{told} Today's, of one:", f"  {price['ask']}")]
