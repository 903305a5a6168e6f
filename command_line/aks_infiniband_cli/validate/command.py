"""The command validate. What it imports takes a second, so it is imported when it runs."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.facts.bounds import MOST_LIMIT

from aks_infiniband_cli.console import Answer, Command, at_work, exit_code_of
from aks_infiniband_cli.documents import content_of
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of

if TYPE_CHECKING:
    from aks_infiniband_cli.validate.validating import Wish


def _limit(text: str) -> tuple[str, float]:
    figure, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected FIGURE=NUMBER") from None
    if not 0 < number < MOST_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r}: the number must be above 0 and below {MOST_LIMIT:g}")
    if figure not in FIGURES:
        raise argparse.ArgumentTypeError(f"{text!r}: no figure is called so; there are {', '.join(FIGURES)}")
    return figure, number


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `validate`."""
    declare_cluster(parser)
    declare_namespace(parser)
    add: Callable[..., object] = parser.add_argument
    add("--pool", action="append", default=[], metavar="NAME", help="measure this pool; more than once for several")
    add("--node", action="append", default=[], metavar="NAME", help="measure this node; more than once for several")
    add("--include-busy", action="store_true", help="measure nodes whose RDMA or GPU resources pods use, too")
    limit = {"action": "append", "default": [], "type": _limit, "metavar": "FIGURE=NUMBER"}
    add("--warn", **limit, help="limit of a warning, such as rdma-write-bandwidth=385; default: the stack's")
    add("--fail", **limit, help="limit of a failure; default: the stack's")
    earlier = "an earlier report to compare with; - is stdin; default: what the pool was accepted with"
    add("--against", metavar="FILE", help=earlier)
    marks = parser.add_mutually_exclusive_group()
    marks.add_argument("--cordon", action="store_true", help="cordon the nodes that fail")
    undo = "uncordon the nodes that --cordon has cordoned, and no others; nothing is measured"
    marks.add_argument("--uncordon", action="store_true", help=undo)


def validate(given: argparse.Namespace) -> Answer:
    """Measure, or uncordon. FOUND where a pool fails or warns, else UNMEASURED where one was not measured."""
    from aks_infiniband_cli.validate import rendering  # noqa: PLC0415
    from aks_infiniband_cli.validate.validating import uncordoned, validated  # noqa: PLC0415

    file = kubeconfig_of(given)
    with at_work(f"Reading the cluster of context {file.context}") as say:
        if given.uncordon:
            found = uncordoned(file.kubeconfig, _wish(given))
        else:
            found = validated(file.kubeconfig, _wish(given), say)
    return Answer(
        document=rendering.document(found),
        text=rendering.text(found),
        shown=rendering.shown(found),
        exit_code=exit_code_of(pool.verdict for pool in found.pools),
    )


def _wish(given: argparse.Namespace) -> "Wish":
    from aks_infiniband_cli.validate.validating import Wish  # noqa: PLC0415

    limits: dict[str, dict[str, float]] = {}
    for level in ("warn", "fail"):
        for figure, value in getattr(given, level):
            limits.setdefault(figure, {})[level] = value
    return Wish(
        pools=given.pool,
        nodes=given.node,
        include_busy=given.include_busy,
        limits=limits,
        against=content_of(given.against) if given.against else None,
        cordon=given.cordon,
        namespace=given.namespace,
    )


VALIDATE: Final = Command(
    name="validate",
    help="measure a live cluster again, on nodes that are idle",
    description=(
        "Measures the pools of a live cluster again, or some of their nodes, as `pulumi up` did, and says what is "
        "worse than before. It needs nothing but the cluster, and takes away what it makes there."
    ),
    example="aks-infiniband validate --pool ndh100 --cordon",
    declare=declare,
    run=validate,
)
