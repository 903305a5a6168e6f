"""The decision that a stack file has taken already."""

from contextlib import chdir
from pathlib import Path

from aks_infiniband.facts.pool import Pool
from aks_infiniband.handwritten import HandwrittenError, read
from aks_infiniband.stack.load import load
from aks_infiniband.stack.settings.mistakes import LOCATION, SettingsError

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import LEAST_GPUS, TRANSPORTS, Decision, reasons_for
from aks_infiniband_cli.choose.figures import Reason
from aks_infiniband_cli.console import CommandError


def explain(path: Path) -> tuple[dict[str, Decision], str]:
    """The decision of each pool with InfiniBand, by the pool's name, and the region of the price.

    Raises CommandError for a file that the program would refuse.
    """
    try:
        document = read(path)
        configuration = (document or {}).get("config") or {}
        with chdir(path.parent):  # files that it names are relative to it, as for the engine
            stack = load(configuration)
    except (AttributeError, HandwrittenError) as error:
        raise CommandError(f"{path}: {error}") from error
    except SettingsError as error:
        raise CommandError(f"{path}: {error}") from error
    region = str(configuration.get(LOCATION, Answers.region))
    return {pool.name: _decision(pool) for pool in stack.pools}, region


def _decision(pool: Pool) -> Decision:
    size, count = pool.size, pool.node_count
    gpus = size.accelerator.count * count if size.accelerator else 0
    against = []
    if gpus and gpus < LEAST_GPUS:
        text = f"{gpus} GPUs are fewer than {LEAST_GPUS}: most of the traffic stays on NVLink within a machine"
        against.append(Reason(text=text))
    return Decision(
        transport=TRANSPORTS[pool.mode],
        mode=pool.mode,
        size=size,
        count=count,
        gpu_driver=pool.gpu_driver,
        worth_it=not against,
        reasons=(*against, *reasons_for(pool.mode, size, count)),
    )
