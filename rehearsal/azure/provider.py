# ruff: noqa: N802 - the methods are named by the protocol
"""The gRPC resource provider: the Pulumi engine's calls to azure-native, answered from the simulated subscription."""

import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from rehearsal.azure.answers import abort_with_state, not_simulated, preview, property_diff, read_inputs
from rehearsal.azure.checking import CREATE_BEFORE_DELETE, Checked, check
from rehearsal.azure.clock import Cancelled, Stopped
from rehearsal.azure.cloud import OperationFailedError
from rehearsal.azure.difference import changes
from rehearsal.azure.errors import AlreadyExistsError, AzureError, NotSimulatedError, not_found
from rehearsal.azure.functions import FUNCTIONS, find
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.naming import parse_id, resource_id
from rehearsal.azure.operations import Operations
from rehearsal.azure.store import Record
from rehearsal.azure.wire import Properties, from_struct, has_unknown, to_struct

_LOG: Final = logging.getLogger(__name__)
Result = TypeVar("Result")
VERSION: Final = "3.29.0"
"""The azure-native version whose place this provider takes."""
_REFUSALS: Final = (AzureError, NotSimulatedError, AlreadyExistsError)
_INTERRUPTIONS: Final = (OperationFailedError, Cancelled, Stopped)
_STILL_GOING: Final = "the engine stopped waiting; Azure has accepted the request and carries on"
_AKS: Final = ("azure-native:containerservice:", "rehearsal:")
_TRIED_AGAIN: Final = ("TooManyRequests", "AnotherOperationInProgress")
"""Answers after which azure-native tries again by itself (provider/pkg/azure/client_azcore.go, ShouldRetry)."""
_PAUSES: Final = (20.0, 60.0, 120.0)
"""Simulated seconds before azure-native tries again: RetryDelay and MaxRetryDelay there; azcore retries 3 times."""


class AzureNative(provider_pb2_grpc.ResourceProviderServicer):
    """azure-native, simulated. One server serves every engine of a rehearsal, one after the other or side by side."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._cloud = operations.cloud
        self._locations: dict[str, str] = {}
        """Configured location by connection: every provider instance of a program has a separate connection."""

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Greet an engine that started this process itself."""
        return provider_pb2.ProviderHandshakeResponse()

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Greet an engine that found this process running."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say the version of the real provider, which this one stands in for."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Give a schema without resources: the engine requests it only to name the provider."""
        schema = {"name": "azure-native", "version": VERSION, "resources": {}, "functions": {}}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Take the provider's configuration as it is."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say that no change of the configuration replaces the provider."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Keep the region of a connection's resources that name none."""
        location = from_struct(request.args).get("location") or request.variables.get("azure-native:config:location")
        if isinstance(location, str):
            self._locations[context.peer()] = location
        return provider_pb2.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        """End the waits of a connection; Azure's operations continue."""
        _LOG.info("the engine cancels: it waits no longer, and Azure continues")
        self._cloud.clock.cancel(context.peer())
        return empty_pb2.Empty()

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Judge a resource's inputs and fill in what Azure or the provider chooses."""
        kind = self._kind(request.urn, context)
        checked = Checked(
            kind=kind,
            program_name=request.urn.rpartition("::")[2],
            olds=from_struct(request.olds),
            news=from_struct(request.news),
            seed=bytes(request.randomSeed),
            location=self._locations.get(context.peer()),
        )
        inputs, failures = check(self._cloud, checked)
        for failure in failures:
            _LOG.info("refused %s: %s", request.urn.rpartition("::")[2], failure.reason)
        return provider_pb2.CheckResponse(
            inputs=to_struct(inputs),
            failures=[provider_pb2.CheckFailure(reason=failure.reason) for failure in failures],
        )

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say which properties changed, and which of them replace the resource."""
        kind = self._kind(request.urn, context)
        old, new = from_struct(request.old_inputs), from_struct(request.news)
        changed = changes(old, new, kind.replacing())
        replaces = [change.path for change in changed if change.replaces]
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and not old.get(CREATE_BEFORE_DELETE),
            diffs=sorted({change.path.split(".")[0].split("[")[0] for change in changed}),
            detailedDiff={change.path: property_diff(change) for change in changed},
            hasDetailedDiff=True,
        )

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        """PUT a resource that is new, or say what a preview can know of it."""
        kind, inputs = self._kind(request.urn, context), from_struct(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(preview(kind, inputs)))
        put = self._request(kind, inputs)
        create = partial(self._operations.create, kind, put, context.peer())
        record = self._put(context, create, kind, put.id, request.properties)
        return provider_pb2.CreateResponse(id=record.id, properties=self._outputs(record))

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        """PUT a resource that is there."""
        kind, inputs = self._kind(request.urn, context), from_struct(request.news)
        if request.preview:
            return provider_pb2.UpdateResponse(properties=to_struct(preview(kind, inputs)))
        put = self._request(kind, inputs, request.id)
        if put.current is None:
            missing = not_found(kind.asked_type, put.name, put.path.get("resourceGroupName", ""))
            self._refuse(context, missing)
        update = partial(self._operations.update, kind, put, context.peer())
        record = self._put(context, update, kind, put.id, request.news)
        return provider_pb2.UpdateResponse(properties=self._outputs(record))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        """GET a resource; an empty answer if there is none."""
        kind = self._kind(request.urn, context)
        record = self._call(context, lambda: find(self._cloud, kind, request.id), kind.pulumi_type)
        if record is None:
            return provider_pb2.ReadResponse()
        inputs = to_struct(read_inputs(kind, record, from_struct(request.inputs), from_struct(request.properties)))
        return provider_pb2.ReadResponse(id=record.id, properties=self._outputs(record), inputs=inputs)

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        """DELETE a resource; one that has gone is not an error, as in Azure."""
        kind = self._kind(request.urn, context)
        record = self._cloud.store.get(request.id)
        if record is not None:
            self._call(context, lambda: self._operations.delete(kind, record, context.peer()), kind.pulumi_type)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Call a function of the provider."""
        function = FUNCTIONS.get(request.tok)
        if function is None:
            known = [token for token in FUNCTIONS if token.startswith("azure-native:")]
            self._refuse(context, not_simulated("function", request.tok, known))
        arguments = from_struct(request.args)
        if has_unknown(arguments):
            return provider_pb2.InvokeResponse()
        answer = self._call(context, lambda: function(self._cloud, arguments), request.tok)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(answer))
        return response

    def _kind(self, urn: str, context: grpc.ServicerContext) -> Kind:
        token = urn.split("::")[2].rpartition("$")[2]
        kind = self._operations.kinds.get(token)
        if kind is None:
            self._refuse(context, not_simulated("resource type", token, list(self._operations.kinds)))
        return kind

    def _request(self, kind: Kind, inputs: Properties, known_id: str = "") -> Request:
        path = {"subscriptionId": self._cloud.subscription.subscription_id}
        path |= {name: str(inputs[name]) for name in kind.parameters}
        resource = known_id or resource_id(kind.path, path)
        parsed = parse_id(kind.path, resource) or path
        return Request(id=resource, path=parsed, inputs=inputs, current=self._cloud.store.get(resource))

    def _outputs(self, record: Record) -> struct_pb2.Struct:
        return to_struct({"id": record.id, **record.outputs})

    def _put(
        self,
        context: grpc.ServicerContext,
        put: Callable[[], Record],
        kind: Kind,
        resource: str,
        inputs: struct_pb2.Struct,
    ) -> Record:
        """A PUT; what fails after Azure has accepted it leaves a resource behind, which the engine must keep."""
        try:
            return self._tried(put)
        except _REFUSALS as error:
            self._refuse(context, error, kind.pulumi_type)
        except _INTERRUPTIONS as error:
            record = self._cloud.store.get(resource)
            assert record
            reason = str(error) or _STILL_GOING
            detail = provider_pb2.ErrorResourceInitFailed(
                id=record.id, properties=self._outputs(record), reasons=[reason], inputs=inputs
            )
            abort_with_state(context, reason, detail)

    def _call(self, context: grpc.ServicerContext, call: Callable[[], Result], token: str) -> Result:
        try:
            return self._tried(call)
        except (*_REFUSALS, *_INTERRUPTIONS) as error:
            self._refuse(context, error, token)

    def _tried(self, call: Callable[[], Result]) -> Result:
        """A request, made again if azure-native does so."""
        for pause in _PAUSES:
            try:
                return call()
            except AzureError as error:
                if error.code not in _TRIED_AGAIN:
                    raise
                _LOG.info("azure-native asks again: %s", error)
                self._cloud.clock.pause(pause / self._cloud.clock.latencies.speed)
        return call()

    def _refuse(self, context: grpc.ServicerContext, error: Exception, token: str = "") -> NoReturn:
        reason = str(error) or _STILL_GOING
        if isinstance(error, AzureError) and token.startswith(_AKS):
            reason = error.of_aks()
        _LOG.info("refused: %s", error)
        context.abort(grpc.StatusCode.UNKNOWN, reason)
        raise AssertionError  # abort raises
