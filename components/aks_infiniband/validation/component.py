"""The component that validates one pool, and what it leaves in the stack's outputs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband import diagnosis
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.access import ValidationAccess
from aks_infiniband.validation.expectations import expectations
from aks_infiniband.validation.explanation import explain
from aks_infiniband.validation.job import (
    EXPECTATIONS_KEY,
    named_job,
    pool_labels,
    rendezvous_name,
    report_name,
    validation_name,
)
from aks_infiniband.validation.options import ValidationOptions, Waits
from aks_infiniband.validation.payload.expectations import Expectations
from aks_infiniband.validation.payload.report import message_of, report_in, unmeasured_report
from aks_infiniband.validation.payload_files import payload_files
from aks_infiniband.validation.validation_job import validation_spec
from aks_infiniband.workload.pods import NAMESPACE


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationArgs:
    """Arguments of Validation."""

    pool: Pool
    """The pool that is validated, as a whole: every node of it."""
    options: ValidationOptions = ValidationOptions()  # noqa: RUF009 frozen
    """What is checked, with which image, for how long at most, and whether a failure fails the update."""
    waits: Waits = Waits()  # noqa: RUF009 frozen
    """How long the nodes are awaited first, and how often they are looked at."""
    namespace: str = NAMESPACE
    """Namespace of everything the validation makes, with the pool's workload ConfigMap; it has to exist."""
    registry: Registry = Registry()  # noqa: RUF009 frozen
    """Where images come from, and with which credentials."""
    topology: str | None = None
    """Content of a given NCCL topology file, as the pool's workloads have it; by default the one of the size."""
    node_preparation: bool = False
    """Whether the nodes are prepared for pods that do not run as root: their memlock limit has to be lifted then."""
    kubeconfig: pulumi.Input[str] | None = None
    """With which a failed wait is explained; without it the engine's bare message stands."""
    revalidate_when: Mapping[str, Any] = field(default_factory=dict)
    """JSON-able facts beside the pool on which the result depends, such as driver versions: when one changes, the
    validation runs again."""


class Validation(pulumi.ComponentResource):
    """Proves that every node of a pool does what its size promises; in mode enforce a failure fails the update.

    One pod per node awaits all nodes and then looks at its own, and the pods' verdict is left in a ConfigMap and in
    `report`. Nothing runs at preview, and nothing runs again while nothing it depends on has changed.
    """

    report: pulumi.Output[dict[str, Any]]
    """The report: schema_version, verdict, coverage, checks, nodes (payload/report.py); unknown at preview until it is
    made, and "not measured" in mode off."""

    def __init__(self, name: str, *, args: ValidationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the Job of one pool, and what it needs.

        name: name of the component.
        args: its arguments.
        opts: resource options; depends_on should name all that makes the nodes ready: pool, policy, operators, workload
            settings.
        """
        super().__init__("aks-infiniband:index:Validation", name, None, opts)
        self._name, self._args, self._opts = name, args, opts
        if args.options.mode == "off":
            self.report = pulumi.Output.from_input(dict(unmeasured_report(self._expected(), mode="off")))
        else:
            self.report = self._validated_report()
        self.register_outputs({"report": self.report})

    def _expected(self) -> Expectations:
        args = self._args
        return expectations(
            args.pool,
            given=args.options.thresholds,
            tries=args.options.tries,
            sweep=args.options.sweep,
            node_preparation=args.node_preparation,
        )

    def _validated_report(self) -> pulumi.Output[dict[str, Any]]:
        args, name = self._args, self._name
        files = {**payload_files(), EXPECTATIONS_KEY: json.dumps(self._expected(), indent=1)}
        payload = self._config_map("payload", validation_name(args.pool), "validate", files)
        report = self._config_map("report", report_name(args.pool), "report", None)
        rendezvous = self._config_map("rendezvous", rendezvous_name(args.pool), "rendezvous", None)
        access = ValidationAccess(
            f"{name}-access", pool=args.pool, namespace=args.namespace, opts=child_options(self, self._opts)
        )
        validation = self._job(files, depends_on=[payload, report, rendezvous, access])
        # The id depends on the Job, so that the report is read when it is there, and is unknown at preview till then.
        report_id = validation.id.apply(lambda _: f"{args.namespace}/{report_name(args.pool)}")
        read = k8s.core.v1.ConfigMap.get(
            f"{name}-result", id=report_id, opts=child_options(self, self._opts, depends_on=[validation])
        )
        return pulumi.Output.all(data=read.data, binaryData=read.binary_data).apply(self._parsed)

    def _parsed(self, config_map: Mapping[str, Any]) -> dict[str, Any]:
        report = report_in(config_map)
        if report is None:
            return dict(unmeasured_report(self._expected(), mode=self._args.options.mode))
        if report["verdict"] != "pass" and not pulumi.runtime.is_dry_run():
            pulumi.log.warn(f"validation of {message_of(report)}", resource=self)
        return dict(report)

    def _config_map(
        self, suffix: str, name: str, component: str, data: Mapping[str, str] | None
    ) -> k8s.core.v1.ConfigMap:
        return k8s.core.v1.ConfigMap(
            f"{self._name}-{suffix}",
            metadata={
                "name": name,
                "namespace": self._args.namespace,
                "labels": pool_labels(self._args.pool, component),
            },
            data=data,
            opts=child_options(self, self._opts, **({} if data else {"ignore_changes": ["data", "binaryData"]})),
        )

    def _job(self, files: Mapping[str, str], *, depends_on: list[pulumi.Resource]) -> k8s.batch.v1.Job:
        args = self._args
        spec = validation_spec(
            args.pool,
            options=args.options,
            waits=args.waits,
            namespace=args.namespace,
            registry=args.registry,
            topology=args.topology,
        )
        job: dict[str, Any] = named_job(args.pool, spec, args.revalidate_when, files)
        hooks = None
        if args.kubeconfig is not None:
            hooks = diagnosis.on_error(
                f"{self._name}-validate",
                waiting_for="job",
                kubeconfig=args.kubeconfig,
                pools=[args.pool],
                explain=explain,
            )
        metadata: Any = {**job["metadata"], "namespace": args.namespace}
        spec_: Any = job["spec"]
        return k8s.batch.v1.Job(
            f"{self._name}-validate",
            metadata=metadata,
            spec=spec_,
            opts=child_options(self, self._opts, depends_on=depends_on, hooks=hooks),
        )
