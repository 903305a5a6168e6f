"""The command adopt: its flags, what it writes, and what it says."""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aks_infiniband.terminal import page

from aks_infiniband_cli.azure.flags import url
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, CommandError, at_work, stack_name, uncut
from aks_infiniband_cli.documents import write_new
from aks_infiniband_cli.kubeconfig import declare_cluster, kubeconfig_of, kubeconfig_path

if TYPE_CHECKING:  # importing them takes seconds
    from aks_infiniband.access.kubeconfig_file import KubeconfigFile

    from aks_infiniband_cli.adopt.describing import Description, PoolThere
    from aks_infiniband_cli.adopt.found import Found, Left, NodesOfPool
    from aks_infiniband_cli.azure.pools import AksFound

_NOTHING: Final = "No file is written."


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `adopt`."""
    parser.add_argument("stack", type=stack_name, metavar="NAME", help="writes Pulumi.NAME.yaml")
    declare_cluster(parser)
    parser.add_argument(
        "--pool",
        action="append",
        metavar="NAME",
        help="describe this pool alone; several with the flag again. Default: every pool with InfiniBand",
    )
    azure = parser.add_argument_group("to take over node pools of AKS")
    azure.add_argument("--resource-group", metavar="RG", help="resource group of the AKS cluster")
    azure.add_argument(
        "--cluster", metavar="NAME", help="name of the AKS cluster; default: nothing in Azure is taken over"
    )
    azure.add_argument("--subscription", metavar="ID", help="default: $ARM_SUBSCRIPTION_ID")
    azure.add_argument(
        "--endpoint", type=url, metavar="URL", help="of Azure Resource Manager; default: the public cloud's"
    )
    parser.add_argument("--folder", type=Path, default=Path(), help="folder for the files; default: the current folder")


def adopt(flags: argparse.Namespace) -> Answer:
    """Read, describe and write. The exit code is FOUND if something is left, or has to be done first."""
    if (flags.resource_group is None) != (flags.cluster is None):
        raise CommandError("--resource-group and --cluster name the AKS cluster together: give both, or neither")
    for path in _files(flags):  # before any request
        if path.exists():
            raise CommandError(f"{path} is there already: name another stack, or move it away")
    file = kubeconfig_of(flags)
    with at_work(f"Reading the cluster of context {file.context}"):
        found = _read(file)
    aks = None
    if flags.cluster:
        with at_work(f"Reading cluster {flags.cluster} in Azure"):
            from aks_infiniband_cli.azure.pools import read_aks  # noqa: PLC0415  an extra

            aks = read_aks(flags.subscription, flags.endpoint, flags.resource_group, flags.cluster)
    made = _described(flags, file, found, aks)
    written = _written(flags, made, file.context) if made.stack else []
    return _answer(flags, made, found, written)


def _read(file: "KubeconfigFile") -> "Found":
    from aks_infiniband.diagnosis.collect import nodes as read_nodes  # noqa: PLC0415
    from aks_infiniband.operators import existing_gpu_operator, offered  # noqa: PLC0415
    from aks_infiniband.operators.existing_policy import LOOK_SECONDS  # noqa: PLC0415

    from aks_infiniband_cli.adopt.found import Found  # noqa: PLC0415

    seen, unread = offered.offers(file.kubeconfig)
    nodes, no_nodes = read_nodes(file.kubeconfig, limit_seconds=LOOK_SECONDS)
    gpu_policies, no_policies = existing_gpu_operator.policies_there(file.kubeconfig)
    if why := [*no_nodes, *unread, *no_policies]:
        raise CommandError(f"the cluster cannot be read: {why[0]}")
    if not nodes:
        raise CommandError("the cluster does not have any nodes")
    return Found(nodes=nodes, seen=seen, gpu_policies=gpu_policies)


def _described(
    flags: argparse.Namespace, file: "KubeconfigFile", found: "Found", aks: "AksFound | None"
) -> "Description":
    from aks_infiniband_cli.adopt.describing import AksPlace, describe  # noqa: PLC0415
    from aks_infiniband_cli.adopt.found import pools_in, require_nodes_in  # noqa: PLC0415
    from aks_infiniband_cli.stack_file import stack_of  # noqa: PLC0415

    there, left = pools_in(found.nodes)
    place = None
    if aks:
        require_nodes_in(aks.node_group, aks.subscription, aks.name, [pool for pool in there if pool.of_aks])
        place = AksPlace(subscription=aks.subscription, resource_group=aks.resource_group, name=aks.name)
    pools, reasons = _wanted(flags.pool, there, aks)
    made = describe(
        found,
        pools,
        kubeconfig={"kubeconfig": _path(kubeconfig_path(flags)), "context": file.context},
        aks=place,
        load=lambda configuration: stack_of(_files(flags)[0].absolute(), configuration),
    )
    made.left[:0] = [*left, *reasons]
    return made


def _wanted(
    names: Sequence[str] | None, there: "Sequence[NodesOfPool]", aks: "AksFound | None"
) -> "tuple[list[PoolThere], list[Left]]":
    """The pools that are to be described, and why some of them stay with others."""
    from aks_infiniband_cli.adopt.describing import PoolThere, why_not_taken_over  # noqa: PLC0415
    from aks_infiniband_cli.adopt.found import Left  # noqa: PLC0415

    known = {pool.name: pool for pool in there}
    in_azure = aks.pools if aks else {}
    wanted = list(dict.fromkeys(names)) if names else list(known)
    if unknown := [name for name in wanted if name not in known and name not in in_azure]:
        names_there = ", ".join(dict.fromkeys([*known, *in_azure])) or "none"
        raise CommandError(
            f"--pool {unknown[0]}: the cluster does not have this pool with InfiniBand; it has: {names_there}"
        )
    pools: list[PoolThere] = []
    left: list[Left] = []
    for name in wanted:
        azure = in_azure.get(name)
        why = why_not_taken_over(azure) if azure else None
        if why:
            left.append(Left(what=f"pool {name}", why=why))
        if name in known or not why:
            pools.append(PoolThere(nodes=known.get(name), azure=None if why else azure))
    return pools, left


def _path(path: str) -> str:
    """The kubeconfig as a stack file names it, from wherever that is."""
    return path if path.startswith("~") else str(Path(path).absolute())


def _files(flags: argparse.Namespace) -> tuple[Path, Path]:
    """The stack file, and the file for `pulumi import`."""
    return flags.folder / f"Pulumi.{flags.stack}.yaml", flags.folder / f"Pulumi.{flags.stack}.import.json"


def _written(flags: argparse.Namespace, made: "Description", context: str) -> list[Path]:
    from aks_infiniband_cli.adopt.files import import_text, stack_text  # noqa: PLC0415

    what = f"Cluster {flags.cluster or context}"
    stack_file, import_file = _files(flags)
    texts = {stack_file: stack_text(made.configuration, cluster=what)}
    if made.taken:
        texts[import_file] = import_text(made.taken)
    for file, text in texts.items():
        write_new(file, text)
    return list(texts)


def _answer(flags: argparse.Namespace, made: "Description", found: "Found", written: Sequence[Path]) -> Answer:
    first = list(_first(made))
    document = {
        "files": [str(file) for file in written],
        "pools": [_pool(pool, made) for pool in made.configuration.get("aks-infiniband:pools", [])] if written else [],
        "theirs": found.theirs(),
        "left": [{"what": each.what, "why": each.why} for each in made.left],
        "first": [{"what": what, "remedy": remedy} for what, remedy in first],
        "next": list(_next(flags, made, written)),
    }
    return Answer(
        document=document,
        lines=[*map(uncut, _lines(document))],
        exit_code=FOUND if made.left or first or not written else FINE,
    )


def _first(made: "Description") -> Iterator[tuple[str, str]]:
    """The points that `pulumi up` would refuse until a person has done them."""
    if made.stack is None or made.stack.existing is None:
        return
    from aks_infiniband.stack import beforehand  # noqa: PLC0415

    for look in beforehand.looks(made.stack.existing.kubeconfig, made.stack):
        yield from look.lacking


def _pool(keys: Mapping[str, Any], made: "Description") -> dict[str, Any]:
    taken = {pool.name: pool for pool in made.taken}.get(keys["name"])
    return {
        "name": keys["name"],
        "vm_size": keys["vmSize"],
        "count": keys["count"],
        "taken_over": taken is not None,
        "changes": list(taken.changes) if taken else [],
        "stays": list(taken.stays) if taken else [],
    }


def _next(flags: argparse.Namespace, made: "Description", written: Sequence[Path]) -> Iterator[str]:
    if not written:
        return
    stack = shlex.quote(flags.stack)
    yield f"pulumi stack init {stack}"
    if made.taken:
        yield f"pulumi import --stack {stack} --file Pulumi.{stack}.import.json --generate-code=false --yes"
    yield f"pulumi preview --stack {stack}"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for pool in document["pools"]:
        whose = "taken over: Pulumi changes it, and never deletes it" if pool["taken_over"] else "of others: only used"
        yield f"pool {pool['name']}, {pool['count']} × {pool['vm_size']}: {whose}"
        yield from (f"  the first update changes {change}" for change in pool["changes"])
        yield from (f"  stays as it is: {property_}" for property_ in pool["stays"])
    for each in document["theirs"]:
        yield f"{each}: stays theirs"
    for each in document["left"]:
        yield f"not adopted: {each['what']}: {each['why']}"
    for each in document["first"]:
        yield f"before `pulumi up`: {each['what']}\n  do: {each['remedy']}"
    yield f"Written: {', '.join(document['files'])}." if document["files"] else _NOTHING
    if document["next"]:
        yield "Next:"
        yield from (f"  {command}" for command in document["next"])


ADOPT: Final = Command(
    name="adopt",
    help="describe a cluster that is there as a stack file, and take over node pools of AKS",
    description="Reads a cluster that others made, and in Azure its node pools if it is named there; writes the stack "
    f"file that describes it, and what `pulumi import` needs ({page('existing-cluster')}). The command "
    "changes nothing else.",
    example="aks-infiniband adopt lab --kubeconfig cluster.yaml --resource-group rdma --cluster guide",
    declare=declare,
    run=adopt,
    extra="azure",
)
