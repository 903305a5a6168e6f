"""The command validate. Its imports take a second, so they are made when it runs."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from aks_infiniband.facts import rules
from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.facts.bounds import MOST_LIMIT
from aks_infiniband.facts.catalog.machine import Mode

from aks_infiniband_cli.console import Answer, Command, CommandError, at_work, note
from aks_infiniband_cli.documents import content_of, require_new, write_document
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of
from aks_infiniband_cli.test_results.files import declare_test_results, named_test_results, write_test_results

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


def _selector(text: str) -> dict[str, str]:
    selector = dict[str, str]()
    for pair in text.split(","):
        label, equals, value = pair.partition("=")
        try:
            if not equals:
                raise ValueError("must be LABEL=VALUE, or several with a comma between")
            rules.label_key(label)
            rules.label_value(value)
            if selector.setdefault(label, value) != value:
                raise ValueError("must have a label once")
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {pair!r} {error}") from None
    return selector


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `validate`."""
    declare_cluster(parser)
    declare_namespace(parser)
    add: Callable[..., object] = parser.add_argument
    add("--pool", action="append", default=[], metavar="NAME", help="measure this pool; more than once for several")
    selector = "without a stack: measure the nodes that have these labels"
    add("--selector", type=_selector, default={}, metavar="LABEL=VALUE,…", help=selector)
    add("--node", action="append", default=[], metavar="NAME", help="measure this node; more than once for several")
    add("--include-busy", action="store_true", help="measure nodes whose RDMA or GPU resources pods use, too")
    limit = {"action": "append", "default": [], "type": _limit, "metavar": "FIGURE=NUMBER"}
    add("--warn", **limit, help="limit of a warning, such as rdma-write-bandwidth=385; default: the stack's")
    add("--fail", **limit, help="limit of a failure; default: the stack's")
    mode = "without a stack, if the cluster leaves it open: how pods get InfiniBand"
    add("--mode", choices=get_args(Mode), help=mode)
    add("--rdma-resource", metavar="NAME", help="the same: which of the nodes' resources is that of the HCAs")
    add("--image", help="without a stack: the image that measures, if nodes do not reach the default one")
    earlier = "an earlier report to compare with; - is stdin; default: what the pool was accepted with"
    add("--against", metavar="FILE", help=earlier)
    kept = "keep what --output json prints in this file, which must not be there yet"
    add("--out", type=Path, metavar="FILE", help=kept)
    declare_test_results(parser)
    marks = parser.add_mutually_exclusive_group()
    marks.add_argument("--cordon", action="store_true", help="cordon the nodes that fail")
    undo = "uncordon the nodes that --cordon has cordoned, and no others; nothing is measured"
    marks.add_argument("--uncordon", action="store_true", help=undo)


def validate(flags: argparse.Namespace) -> Answer:
    """Measure, or uncordon. FOUND if a pool fails or warns, else UNMEASURED if one was not measured."""
    from aks_infiniband_cli.validate import rendering  # noqa: PLC0415
    from aks_infiniband_cli.validate.validating import uncordoned, validated  # noqa: PLC0415

    file = kubeconfig_of(flags)
    out: Path | None = flags.out
    results = named_test_results(flags)
    if flags.uncordon and results:
        raise CommandError(f"{' and '.join(results)}: --uncordon measures nothing, so there is nothing to write")
    files = {**({"--out": out} if out else {}), **results}
    require_new(files)
    with at_work(f"Reading the cluster of context {file.context}") as say:
        if flags.uncordon:
            outcome = uncordoned(file.kubeconfig, _wish(flags))
        else:
            outcome = validated(file.kubeconfig, _wish(flags), say)
    answer = rendering.answer(outcome)
    if out is not None:
        write_document(answer.document, out)
    write_test_results([rendering.suite_of(pool) for pool in outcome.pools], results)
    for kept in files.values():
        note(f"kept: {kept}")
    return answer


def _wish(flags: argparse.Namespace) -> "Wish":
    from aks_infiniband_cli.validate.unmanaged.pools import Asked  # noqa: PLC0415
    from aks_infiniband_cli.validate.validating import Wish  # noqa: PLC0415

    limits: dict[str, dict[str, float]] = {}
    for level in ("warn", "fail"):
        for figure, value in getattr(flags, level):
            limits.setdefault(figure, {})[level] = value
    return Wish(
        pools=flags.pool,
        nodes=flags.node,
        include_busy=flags.include_busy,
        limits=limits,
        against=content_of(flags.against) if flags.against else None,
        cordon=flags.cordon,
        namespace=flags.namespace,
        selector=flags.selector,
        asked=Asked(mode=flags.mode, resource=flags.rdma_resource, image=flags.image),
    )


VALIDATE: Final = Command(
    name="validate",
    help="measure a live cluster again, on nodes that are idle",
    description=(
        "Measures the pools of a live cluster again, or some of their nodes, as `pulumi up` did, and says what is "
        "worse than before. The command needs only the cluster, and deletes what it makes there. A pool that no "
        "stack has validated is named by --pool or --selector."
    ),
    example="aks-infiniband validate --pool ndh100 --cordon",
    declare=declare,
    run=validate,
)
