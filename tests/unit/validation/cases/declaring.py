"""The Job of a validation, and the objects of the light check."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.light_check.documents import cron_job_spec, exporter_spec, rules
from aks_infiniband.resources.options import Waits
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.job_parts import named_job
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.program import payload_files, program_volume
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec

from tests.cases import Case, changes, plain
from tests.unit.validation.healthy import POOL

WAITS: Final = Waits(poll_seconds=10, stable_seconds=30, timeout_seconds=2700)
OPTIONS: Final = ValidationOptions(mode="enforce", image="example.com/python:3", timeout_seconds=1800)
_EXPECTATIONS: Final = "aks-infiniband/expectations.json"


def spec_of(pool: Pool, options: ValidationOptions = OPTIONS, **more: Any) -> Any:
    """The Job of a pool's validation."""
    access = PoolAccess(namespace="system", account="validation", topology=more.pop("topology", "topology-1.xml"))
    return validation_spec(pool, options=options, waits=WAITS, access=access, expected=expectations(pool), **more)


def pool_of(case: Case) -> Pool:
    """The usual pool with the differences in `pool`."""
    change = case.get("pool", {})
    return POOL.changed(**{**change, **({"size": SIZES[change["size"]]} if "size" in change else {})})


def outcome_of_job(case: Case) -> Any:
    """The Job of a pool, with the differences of `pool`, `options` and `registry`, and a `topology`; or its difference
    from the usual Job.
    """
    usual = _job({})
    return changes(usual, _job(case)) if case else usual


def _job(case: Case) -> Any:
    pool, options = pool_of(case), OPTIONS.model_copy(update=case.get("options", {}))
    more = {"registry": Registry(**case["registry"])} if "registry" in case else {}
    more |= {"topology": case["topology"]} if "topology" in case else {}
    spec = plain(spec_of(pool, options, **more))
    annotations, volumes = spec["template"]["metadata"]["annotations"], spec["template"]["spec"]["volumes"]
    assert json.loads(annotations.pop(_EXPECTATIONS)) == plain(expectations(pool))
    assert plain(program_volume("validation", payload_files())) in volumes
    volumes[:] = [each for each in volumes if each["name"] != "payload"]
    return {"annotations": named_job(pool, spec)["metadata"]["annotations"], **named(spec)}


def outcome_of_light_check(case: Case) -> Any:
    """The CronJob, the exporter and the rights of a pool's light check; or their difference from the usual ones."""
    usual = _light_check({})
    return changes(usual, _light_check(case)) if case else usual


def _light_check(case: Case) -> Any:
    pool, registry = pool_of(case), Registry(**case.get("registry", {}))
    spec = plain(cron_job_spec(pool, schedule="17 * * * *", namespace="ns", given={}, registry=registry))
    spec["jobTemplate"]["spec"]["template"]["metadata"]["annotations"].pop(_EXPECTATIONS)
    made = {"cron job": spec, "exporter": plain(exporter_spec([pool, pool.changed(name="hb")], registry))}
    for pod in (spec["jobTemplate"]["spec"]["template"]["spec"], made["exporter"]["template"]["spec"]):
        for volume in pod["volumes"]:
            volume.get("configMap", {}).pop("items", None)
    allowed = {str(place): [plain(rule) for rule in each] for place, each in rules([pool], "ns").items()}
    return named({**made, "rights": allowed})


def named(value: Any) -> Any:
    """A document with lists of named objects, and of arguments, as mappings."""
    if isinstance(value, dict):
        return {key: _arguments(item) if key == "args" else named(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    keys = [key for key in ("mountPath", "name") if all(isinstance(item, dict) and key in item for item in value)]
    if not value or not keys:
        return [named(item) for item in value]
    return {item[keys[0]]: named({key: part for key, part in item.items() if key != keys[0]}) for item in value}


def _arguments(words: list[str]) -> dict[str, str]:
    """The values of flags; a flag with = has it in its name."""
    flags = " ".join(words).removeprefix("--").split(" --")
    return {flag: value for flag, _, value in (text.partition(" ") for text in flags)}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"job": outcome_of_job, "light": outcome_of_light_check}
