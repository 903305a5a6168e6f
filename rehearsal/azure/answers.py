"""The answers of the provider, in the protocol's terms: previews, differences, reads, errors that carry a state."""

from typing import Final, NoReturn

import grpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from rehearsal.azure.difference import Change
from rehearsal.azure.errors import NotSimulatedError
from rehearsal.azure.kinds import Kind
from rehearsal.azure.naming import parse_id
from rehearsal.azure.store import Record
from rehearsal.azure.wire import UNKNOWN, Properties

_PROPERTY_KIND: Final = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


def read_inputs(kind: Kind, record: Record, inputs: Properties, state: Properties) -> Properties:
    """The inputs that a read gives: those of the program, with what Azure has changed since. For a resource that no
    program has, as at an import, all inputs that Azure shows (azure-native, provider.go, Read).
    """
    if not inputs:
        parameters = parse_id(kind.path, record.id) or {}
        path = {name: value for name, value in parameters.items() if name in kind.parameters}
        return {**path, **{name: value for name, value in record.outputs.items() if name in kind.input_names}}
    changed = {key for key in inputs if key in record.outputs and record.outputs[key] != state.get(key)}
    return {key: record.outputs[key] if key in changed else value for key, value in inputs.items()}


def preview(kind: Kind, inputs: Properties) -> Properties:
    """The outputs that a preview shows. Values from an input are known; azure-native leaves all others unknown.

    An object's shape may differ between input and output (a list of identities becomes a map), so only
    plain values are taken over.
    """
    known = {name: value for name, value in inputs.items() if not isinstance(value, dict | list)}
    return {name: known.get(name, UNKNOWN) for name in kind.output_names} | {"azureApiVersion": kind.api_version}


def property_diff(change: Change) -> provider_pb2.PropertyDiff:
    """A changed property as the engine shows it."""
    return provider_pb2.PropertyDiff(kind=_PROPERTY_KIND[change.kind, change.replaces], inputDiff=True)


def not_simulated(what: str, token: str, known: list[str]) -> NotSimulatedError:
    """The error for a type or function that Azure may have and the rehearsal does not simulate."""
    return NotSimulatedError(
        f"This rehearsal does not simulate the {what} {token}. Simulated types: {', '.join(sorted(known))}. "
        "On Azure the program may work. To rehearse it, describe the type in rehearsal.azure.yaml next to Pulumi.yaml "
        "(docs/rehearse-your-program.md), or leave this out."
    )


def abort_with_state(
    context: grpc.ServicerContext, reason: str, detail: provider_pb2.ErrorResourceInitFailed
) -> NoReturn:
    """End a call with an error that carries a resource's state, as Pulumi's engine reads it."""
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=reason)
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, reason)
