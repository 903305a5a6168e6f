"""Errors of Azure Resource Manager: the engine's hook tries again what passes by itself, and says what else helps.

Verified in the engine's source, 3.259 (deploy/step.go, retries.go): the engine calls an error hook on create, update
and delete, and True makes it call the provider's same operation again, at most 100 times. A create is called again as a
create, though, and azure-native refuses to create what exists ("cannot create already existing resource"); the engine
would then forget the resource that the first try had left. So a create is tried again only if Azure refused it at once.
"""

import asyncio
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import pulumi

from aks_infiniband.diagnosis.view import Finding
from aks_infiniband.facts.words.azure import MOST_TRIES, error_in
from aks_infiniband.terminal import printable

_ASKED_TO_WAIT: Final = re.compile(r"try again after '?(\d+)'? seconds|retry after '?(\d+)'? seconds", re.IGNORECASE)
"""The words with which Azure Resource Manager names the time of the next request (Azure, "Throttling Resource Manager
requests").
"""

MOST_RETRIES: Final = MOST_TRIES
"""With the pauses below more than half an hour in all, longer than AKS works on one pool; nine of them are about ten
minutes, in which Azure makes a role known everywhere."""
_FIRST_PAUSE_SECONDS: Final = 5.0
_LONGEST_PAUSE_SECONDS: Final = 120.0
_NAME: Final = "aks-infiniband-azure-operation"
_ACCEPTED: Final = "error occurred:"
"""The beginning of the engine's error for an operation that left a resource behind (plugin.InitError, a list of
reasons).
"""

_hooks: WeakKeyDictionary[asyncio.AbstractEventLoop, pulumi.ErrorHook] = WeakKeyDictionary()
"""The engine takes a hook's name once in a run; each run of a program has its own event loop."""


def azure_operation(*, before_update: Sequence[pulumi.ResourceHook] = ()) -> pulumi.ResourceHookBinding:
    """The resource option `hooks` of everything that is made in Azure.

    before_update: hooks that run before it is changed.

    The hook tries again after a conflict with another operation (409), throttling (429) and a role that has not spread
    yet (403). The pauses double and vary, so that pools that met do not meet again, and each time the log says what
    Azure said. Everything else fails at once, with its cause and the next step if they are known. All resources share
    one hook, because the engine finds the hook of a resource that has left the program by the hook's name.
    """
    loop = asyncio.get_event_loop()
    if loop not in _hooks:
        _hooks[loop] = pulumi.ErrorHook(_NAME, on_error_of_azure)
    return pulumi.ResourceHookBinding(before_update=[*before_update], on_error=[_hooks[loop]])


async def on_error_of_azure(args: pulumi.ErrorHookArgs) -> bool:
    """Say what Azure refused, and wait before another try; returns whether the engine is to try again."""
    newest, tries = args.errors[0].strip(), len(args.errors)
    pause = pause_before_retry(args.errors, args.failed_operation, share=random.uniform(0.5, 1))  # noqa: S311  no secret
    if pause is not None:
        pulumi.log.warn(
            f"{args.name}: Azure refuses to {args.failed_operation} it now: {printable(newest)}\n"
            f"Trying again in {pause:.0f} s (retry {tries} of at most {_most(newest)})."
        )
        await asyncio.sleep(pause)
        return True
    if text := explanation(args):
        pulumi.log.error(printable(text))
    return False


def pause_before_retry(errors: Sequence[str], operation: str, *, share: float) -> float | None:
    """Seconds before the next try; None for no further try.

    errors: of all tries so far, the newest first.
    operation: create, update or delete.
    share: 0.5 to 1, of the full pause; chance makes it.
    """
    tries = len(errors)
    if not tries or tries > _most(errors[0]) or not is_transient(errors[0]):
        return None
    if operation == "create" and _ACCEPTED in errors[0]:
        return None
    full = min(_FIRST_PAUSE_SECONDS * 2.0 ** (tries - 1), _LONGEST_PAUSE_SECONDS)
    return max(full * share, asked_to_wait(errors[0]))


def _most(error: str) -> int:
    known = error_in(error)
    return known.tries if known else MOST_RETRIES


def explanation(args: pulumi.ErrorHookArgs) -> str:
    """The likely cause of a failure and the next command; empty if only Azure's own words are known."""
    inputs: Mapping[str, Any] = args.new_inputs or args.old_inputs or {}
    newest = args.errors[0] if args.errors else ""
    name = inputs.get("agentPoolName") or args.name
    lines = [f"Azure did not {args.failed_operation} {name}."]
    if len(args.errors) > MOST_RETRIES:
        lines.append(f"  - it was still busy after {MOST_RETRIES} retries; `pulumi up` continues from here")
    for finding in azure_findings(newest, inputs):
        lines += finding.lines()
    return "\n".join(lines) if len(lines) > 1 else ""


def is_transient(message: str) -> bool:
    """True if the same operation may succeed a little later without any change.

    Missing capacity and quota are not transient: they last, so a person has to act.
    """
    known = error_in(message)
    return known is not None and known.kind == "passes"


def asked_to_wait(message: str) -> float:
    """Seconds for which Azure wants no further request; 0 if it does not say."""
    match = _ASKED_TO_WAIT.search(message)
    return float(match[1] or match[2]) if match else 0.0


def azure_findings(message: str, inputs: Mapping[str, Any]) -> list[Finding]:
    """Likely cause and next step for what Azure answered.

    inputs: of the resource whose operation failed.
    """
    known = error_in(message)
    if known is None:
        return []
    command = known.command.replace("{vmSize}", str(inputs.get("vmSize", "<size>"))) or None
    return [Finding(what=message.strip(), cause=known.cause, command=command)]
