"""The command workload: its flags, and what it prints for job programs and for kubectl."""

import argparse
import json
from pathlib import Path
from typing import Any, Final

from aks_infiniband_cli.console import Answer, Command, CommandError, stack_name, uncut


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `workload`."""
    parser.add_argument("pool", nargs="?", metavar="POOL", help="default: all pools with InfiniBand")
    parser.add_argument("-s", "--stack", required=True, type=stack_name, metavar="NAME", help="reads Pulumi.NAME.yaml")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="folder of the stack file; default: the current folder"
    )
    parser.add_argument("--sample", action="store_true", help="print the pool's sample Job, which kubectl applies")


def workload(flags: argparse.Namespace) -> Answer:
    """The settings that pods need, or a sample Job. Raises CommandError for a pool that the stack does not have."""
    from aks_infiniband.stack.pool_outputs import pod_templates, sample_of  # noqa: PLC0415  it takes a second

    from aks_infiniband_cli.stack_file import configuration_of, stack_of  # noqa: PLC0415

    file = flags.folder / f"Pulumi.{flags.stack}.yaml"
    stack = stack_of(file, configuration_of(file))
    pools = {pool.name: pool for pool in stack.pools}
    has = f"{file} has {', '.join(pools) or 'no pool with InfiniBand'}"
    if flags.pool is not None and flags.pool not in pools:
        raise CommandError(f"{flags.pool} is not a pool with InfiniBand; {has}")
    if not flags.sample:
        chosen = pools if flags.pool is None else {flags.pool: pools[flags.pool]}
        templates: dict[str, Any] = {name: pod_templates(stack, pool) for name, pool in chosen.items()}
        return Answer(document={"pools": templates}, lines=[uncut(json.dumps(templates, indent=2))])
    if flags.pool is None:
        raise CommandError(f"--sample is of one pool: aks-infiniband workload POOL --sample; {has}")
    job = sample_of(stack, pools[flags.pool])
    return Answer(document={"sample": job}, lines=[uncut(json.dumps(job, indent=2))])


WORKLOAD: Final = Command(
    name="workload",
    help="print what pods of a pool need, or its sample Job",
    description="Prints JSON: by pool nodeCount and podTemplate (with node preparation also restrictedPodTemplate), "
    "for programs that make jobs; or a sample Job for kubectl. The command reads only the stack file.",
    example="aks-infiniband workload ndh100 --sample -s dev | kubectl apply --filename -",
    declare=declare,
    run=workload,
)
