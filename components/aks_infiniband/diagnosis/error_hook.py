"""The hook that the engine calls when a wait fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.diagnosis.diagnose import Explain, diagnose, render
from aks_infiniband.diagnosis.pods import job_findings
from aks_infiniband.diagnosis.view import Finding, Object, View, Wait, WaitingFor
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.words import REFUSALS, found_in
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband.resources.options import WaitArgs, child_options
from aks_infiniband.terminal import printable

LIMIT_SECONDS: Final = 20.0
"""Limit for a look at the cluster."""


def on_error(
    name: str,
    *,
    waiting_for: WaitingFor,
    kubeconfig: pulumi.Input[str] | None = None,
    pools: Sequence[Pool] = (),
    explain: Explain = job_findings,
) -> pulumi.ResourceHookBinding:
    """The resource option `hooks` with which a failed wait is explained among the engine's diagnostics.

    name: unique among the program's hooks.
    waiting_for: the kind of the resource.
    kubeconfig: of the cluster to look at, read-only; without it only the error itself is explained.
    pools: whose nodes ought to be there.
    explain: the Job maker's knowledge of its failure, beyond the end of Job and pods.

    The hook never requests another try: the wait has already lasted as long as it may.
    """
    known: list[str] = []
    if kubeconfig is not None:
        pulumi.Output.from_input(kubeconfig).apply(known.append)

    async def on_failure(args: pulumi.ErrorHookArgs) -> bool:
        """Returns whether the engine is to try again."""
        wait = wait_of(args, waiting_for)
        view = await _view(known[-1] if known else None, wait)
        pulumi.log.error(printable(render(wait, diagnose(wait, view, pools, explain), view.unread)))
        return False

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-diagnosis", on_failure)])


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A component whose children wait for the cluster."""

    component: pulumi.Resource
    opts: pulumi.ResourceOptions | None
    """The options that the component was given."""
    args: WaitArgs
    pools: Sequence[Pool]
    """The pools whose nodes ought to be there."""

    def child_options(
        self,
        name: str,
        waiting_for: WaitingFor,
        *,
        hooks: pulumi.ResourceHookBinding | None = None,
        **more: Any,
    ) -> pulumi.ResourceOptions:
        """Options of a child whose failed wait is explained (`on_error`).

        hooks: further ones of an update. more: further resource options, as `resources.options.child_options` takes
        them.
        """
        explained = on_error(name, waiting_for=waiting_for, kubeconfig=self.args.kubeconfig, pools=self.pools)
        if hooks is not None:
            explained = pulumi.ResourceHookBinding(
                before_update=hooks.before_update,
                after_update=hooks.after_update,
                on_error=[*(explained.on_error or ()), *(hooks.on_error or ())],
            )
        return child_options(self.component, self.opts, hooks=explained, **more)


def wait_of(args: pulumi.ErrorHookArgs, waiting_for: WaitingFor) -> Wait:
    """The wait that failed, from the engine's description of the operation."""
    inputs: Mapping[str, Any] = args.new_inputs or args.old_inputs or {}
    metadata = inputs.get("metadata") or inputs
    name = metadata.get("name") or args.name
    # These are cluster-scoped; the provider's inputs name a namespace all the same.
    cluster_scoped = waiting_for.endswith("-policy") or waiting_for in ("ipoib-network", "namespace")
    namespace = "" if cluster_scoped else metadata.get("namespace") or ""
    return Wait(waiting_for=waiting_for, name=str(name), namespace=str(namespace), errors=tuple(args.errors))


async def _view(kubeconfig: str | None, wait: Wait) -> View:
    """Collect in a thread, and give up after the limit: a credential plugin may hang."""
    if kubeconfig is None:
        return View(unread=["the cluster: its kubeconfig is not known"])
    namespaces = list(dict.fromkeys(filter(None, (wait.namespace, *OPERATOR_NAMESPACES))))

    def read() -> View:
        # Imported here: a client of the API server takes long to load, and waits seldom fail.
        from aks_infiniband.diagnosis.collect import collect  # noqa: PLC0415

        return collect(kubeconfig, namespaces, limit_seconds=LIMIT_SECONDS)

    return await within_limit(read, LIMIT_SECONDS) or View(
        unread=[f"the cluster: no answer within {LIMIT_SECONDS:g} s"]
    )


async def job_results(kubeconfig: str, namespace: str, run: str, config_map: str) -> tuple[list[Object], Object]:
    """The pods of a Job, by its uid, and the ConfigMap that they fill.

    Both are empty if they cannot be read in time; if the cause is known, it is said.
    """
    refused: list[str] = []

    def read() -> tuple[list[Object], Object]:
        from aks_infiniband.diagnosis.collect import results_of_run  # noqa: PLC0415  as above

        try:
            return results_of_run(kubeconfig, namespace, run, config_map)
        except Exception as error:  # whatever it is: a look must not end an update
            refused.append(f"{type(error).__name__}: {error}".strip())
            return [], {}

    results = await within_limit(read, LIMIT_SECONDS) or ([], {})
    for reason in refused:
        if known := found_in(reason, REFUSALS):
            told = Finding(what=reason, cause=str(known))
            text = "\n".join([f"ConfigMap {namespace}/{config_map} could not be read.", *told.lines()])
            pulumi.log.warn(printable(text))
    return results
