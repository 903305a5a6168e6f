"""The decision that a stack file has taken already."""

from pathlib import Path

from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.settings.mistakes import LOCATION, SettingsError

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import TRANSPORTS, Decision, reasons_for, too_few
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import configuration_of, stack_of


def explain(path: Path) -> tuple[dict[str, Decision], str]:
    """The decision of each pool with InfiniBand, by the pool's name, and the region of the price.

    Raises CommandError for a file that the program would refuse.
    """
    configuration = configuration_of(path)
    try:
        stack = stack_of(path, configuration)
    except SettingsError as error:
        raise CommandError(f"{path}: {error}") from error
    region = str(configuration.get(LOCATION, Answers.region))
    return {pool.name: _decision(pool) for pool in stack.pools}, region


def _decision(pool: Pool) -> Decision:
    size, count = pool.size, pool.node_count
    against = too_few(size.accelerator.count * count if size.accelerator else 0)
    return Decision(
        transport=TRANSPORTS[pool.mode],
        mode=pool.mode,
        size=size,
        count=count,
        gpu_driver=pool.gpu_driver,
        worth_it=not against,
        reasons=(*against, *reasons_for(pool.mode, size, count)),
    )
