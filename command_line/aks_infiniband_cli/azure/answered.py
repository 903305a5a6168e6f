"""An answer that Resource Manager does not give, such as a proxy's page, is refused before a client reads it."""

from typing import Any

from aks_infiniband.handwritten import HandwrittenError, json_document, shortened
from azure.core.exceptions import ServiceResponseError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import SansIOHTTPPolicy

_SHOWN = 60
"""Characters of an answer in an error."""


class RefuseOdd(SansIOHTTPPolicy[Any, Any]):
    """A policy of a client's pipeline. A request that is answered so may have been accepted."""

    def on_response(self, request: PipelineRequest[Any], response: PipelineResponse[Any, Any]) -> None:
        """Raises ServiceResponseError for a body that is not JSON."""
        answer = response.http_response
        if answer.status_code >= 400:  # the clients report it, whatever its body is
            return
        # Some of the clients have responses of an older kind.
        body = answer.read() if hasattr(answer, "read") else answer.body()
        try:
            if body:
                json_document(body)
        except HandwrittenError as error:
            begins = shortened(body[:_SHOWN].decode("utf-8", errors="replace"))
            asked = request.http_request
            raise ServiceResponseError(
                f"{asked.method} {asked.url.partition('?')[0]} did not return JSON, so a proxy or another program "
                f"answered: the answer begins with {begins}"
            ) from error
