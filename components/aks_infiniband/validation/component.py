"""The component that validates one pool, and what it leaves in the stack's outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband import diagnosis
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.driver_turns import DriverTurns
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.options import Waits, child_options
from aks_infiniband.resources.registry import Registry
from aks_infiniband.terminal import printable
from aks_infiniband.validation.access import ValidationAccess, ValidationAccessArgs
from aks_infiniband.validation.explanation import evidence, explain
from aks_infiniband.validation.job_parts import (
    named_job,
    pool_labels,
    report_name,
    validation_name,
)
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.payload.report.document import Report, message_of, unmeasured_report
from aks_infiniband.validation.payload.report.kept import evidence_of, kept_report, packed_report, report_in
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.payload.talk.boards import board_names
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.program import payload_files
from aks_infiniband.validation.validation_job import validation_spec


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationArgs:
    """Arguments of Validation."""

    pool: Pool
    """The pool that is validated, as a whole: every node of it."""
    options: ValidationOptions = ValidationOptions()  # noqa: RUF009 frozen
    """The checks, their image and time limit, and the choice whether a failure fails the update."""
    waits: Waits = Waits()  # noqa: RUF009 frozen
    """Limit for the first wait for the nodes, and the pause between looks."""
    access: ValidationAccess | None = None
    """Program and account that the validations of a namespace share, and that namespace; None: its own."""
    namespace: Annotated[str, rules.namespace] = SYSTEM_NAMESPACE
    """Namespace of all that the validation makes; it has to exist. No workload belongs there. An access has its own."""
    registry: Registry = Registry()  # noqa: RUF009 frozen
    """The source of images. Default: the places at which their makers publish them."""
    node_preparation: bool = False
    """True if NodePreparation prepares the nodes with memlock, for pods that do not run as root."""
    kubeconfig: pulumi.Input[str]
    """The program explains a failed wait with it, and reads the report's digest from the Job's pods."""
    turns: DriverTurns | None = None
    """Given these, the pool is measured only after all driver upgrades on its nodes have ended."""
    revalidate_when: Mapping[str, Any] = field(default_factory=dict)
    """Further facts on which the result depends, such as driver versions. When one changes, the validation runs
    again.
    """

    def __post_init__(self) -> None:
        """Raises ValueError for no namespace."""
        keep_rules(self)


class Validation(pulumi.ComponentResource):
    """Proves that every node of a pool does what its size promises; in mode enforce a failure fails the update.

    A Job starts one pod on each node. The pods wait for all nodes, look at their own node, measure together, and leave
    their verdict in a ConfigMap and in `report`. The stack keeps a report only if it has the Job's uid and the digest
    that the Job's pods left in their termination message. Nothing runs at preview, and nothing runs again until
    something that the result depends on changes. depends_on should name all that makes the nodes ready: pool, policy,
    operators, workload settings.
    """

    report: pulumi.Output[dict[str, Any]]
    """The report: schema_version, verdict, coverage, checks, nodes (payload/report/document.py). Unknown at preview
    until it is made, and "not measured" in mode off."""

    def __init__(self, name: str, *, args: ValidationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:Validation", name, None, opts)
        self._name, self._args, self._opts = name, args, opts
        self._namespace = args.namespace if args.access is None else args.access.namespace
        self._left: dict[str, Report | None] = {}  # by the Job's uid
        # The kubeconfig is kept in a list, because an output made of this secret would be secret, too. The list is
        # filled before any Job is made.
        self._kubeconfig: list[str] = []
        pulumi.Output.from_input(args.kubeconfig).apply(self._kubeconfig.append)
        if args.options.mode == "off":
            self.report = pulumi.Output.from_input(dict(unmeasured_report(self._expected(), mode="off")))
        else:
            self.report = self._validated_report()
        self.register_outputs({})  # the report is in the stack's state already, as its ConfigMap

    def _expected(self) -> Expectations:
        args = self._args
        return expected_of(args.pool, args.options, node_preparation=args.node_preparation)

    def _validated_report(self) -> pulumi.Output[dict[str, Any]]:
        args, name = self._args, self._name
        access = args.access or self._access()
        job = self._job(access, depends_on=[*self._config_maps(), access])
        run = job.metadata.apply(lambda metadata: str(metadata.uid))
        # The stack keeps the report, because pods vanish with their nodes, and because the engine writes its whole
        # state for each object that it reads. The report of another Job takes its place.
        kept = pulumi.Stash(
            f"{name}-evidence",
            input=run.apply(lambda uid: packed_report(self._left.get(uid))),
            # The output depends on the Job alone: the list of all that the Job depends on would be long in the state.
            opts=child_options(
                self,
                None,
                deleted_with=self._opts.deleted_with if self._opts else None,
                ignore_changes=["input"],
                replacement_trigger=run,
            ),
        )
        return pulumi.Output.all(run, kept.output).apply(lambda all_: self._believed(*all_))

    def _access(self) -> ValidationAccess:
        args = ValidationAccessArgs(
            pools=[self._args.pool],
            namespace=self._namespace,
            name=validation_name(self._args.pool),
            expected=[self._expected()],
        )
        return ValidationAccess(f"{self._name}-access", args=args, opts=child_options(self, self._opts))

    async def _proven(self, run: str) -> Report | None:
        """The report of the Job with this uid, if the Job's pods have left the same digest."""
        where = report_name(self._args.pool)
        pods, config_map = await diagnosis.job_results(self._kubeconfig[-1], self._namespace, run, where)
        report = report_in(config_map)
        if report is not None and (report["run"] != run or evidence_of(report) != evidence(pods, run)):
            pool, namespace = self._args.pool, self._namespace
            self._warn(
                f"pool {pool.name}: the report in ConfigMap {namespace}/{where} is not what its Job's pods "
                "have left, and does not count. To have the pool measured again, delete the Job and refresh: "
                f"kubectl -n {namespace} delete jobs -l app.kubernetes.io/instance={pool.name} && pulumi up --refresh"
            )
            return None
        return report

    async def _believed(self, run: str, kept: str | None) -> Any:
        """The report that the stack kept. If an interrupted update kept none, the report in the cluster. Unknown at
        preview if there is none.
        """
        report = kept_report(kept)
        if report is None:
            report = self._left[run] if run in self._left else await self._proven(run)
        if report is None:
            if pulumi.runtime.is_dry_run():
                return pulumi.output.UNKNOWN  # a Job that replaces this one will measure
            return dict(unmeasured_report(self._expected(), mode=self._args.options.mode))
        if report["verdict"] != "pass":
            self._warn(f"validation of {message_of(report)}")
        return dict(report)

    def _warn(self, text: str) -> None:
        if not pulumi.runtime.is_dry_run():
            pulumi.log.warn(printable(text), resource=self)

    def _config_maps(self) -> list[k8s.core.v1.ConfigMap]:
        """ConfigMaps that are empty until the pods fill them; the first gets the report."""
        pool = self._args.pool
        opts = child_options(self, self._opts, ignore_changes=["data", "binaryData"])
        boards = (board_names(stem, pool.node_count) for stem in (f"{self._name}-report", report_name(pool)))
        named = {"namespace": self._namespace, "labels": pool_labels(pool, "report")}
        metadata: dict[str, Any] = {resource: {**named, "name": name} for resource, name in zip(*boards, strict=True)}
        return [k8s.core.v1.ConfigMap(name, metadata=about, opts=opts) for name, about in metadata.items()]

    def _job(self, access: ValidationAccess, *, depends_on: list[pulumi.Resource]) -> k8s.batch.v1.Job:
        args = self._args
        spec = validation_spec(
            args.pool,
            options=args.options,
            waits=args.waits,
            access=access.for_pool(args.pool),
            expected=self._expected(),
            registry=args.registry,
        )
        job: dict[str, Any] = named_job(args.pool, spec, args.revalidate_when, payload_files())
        explained = diagnosis.on_error(
            f"{self._name}-validate",
            waiting_for="job",
            kubeconfig=args.kubeconfig,
            pools=[args.pool],
            explain=explain,
        )

        async def ask(made: pulumi.ResourceHookArgs) -> None:
            """Read the evidence once from the pods, when the Job has ended: they are there then."""
            run = str((made.new_outputs or {})["metadata"]["uid"])
            self._left[run] = await self._proven(run)

        hooks = pulumi.ResourceHookBinding(
            on_error=explained.on_error,
            before_create=[args.turns.measurement(args.pool.name, args.pool.node_selector)] if args.turns else None,
            after_create=[pulumi.ResourceHook(f"{self._name}-evidence", ask)],
        )
        metadata: Any = {**job["metadata"], "namespace": self._namespace}
        spec_: Any = job["spec"]
        return k8s.batch.v1.Job(
            f"{self._name}-validate",
            metadata=metadata,
            spec=spec_,
            # The pods of two Jobs that want the same nodes could get one node each, and wait for each other.
            opts=child_options(self, self._opts, depends_on=depends_on, hooks=hooks, delete_before_replace=True),
        )
