"""Azure's refusals, in the words that azure-native prints.

azure-native prints `Status=… Code="…" Message="…"`. The message is that of the answer's `error` object, and the whole
body without such an object (pulumi-azure-native, provider/pkg/azure/client_azcore.go, newResponseError). AKS answers
without it (Azure/terraform-azurerm-aks issue 604, jenkins-infra/azure PR 730), so of AKS the body is printed. A failure
after the acceptance is reported by the operation's status, whose request itself succeeded: Status=200.
"""

import json
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import yaml

REFUSALS: Final = Path(__file__).with_name("refusals.yaml")
_NAMING_RULES: Final = " Please see https://aka.ms/aks-naming-rules for more details."

_OF_THE_GATEWAY: Final = (
    "AuthenticationFailed",
    "AuthorizationFailed",
    "ExpiredAuthenticationToken",
    "InvalidAuthenticationToken",
    "LinkedAuthorizationFailed",
    "MissingApiVersionParameter",
    "ResourceGroupNotFound",
    "ResourceNotFound",
)
"""Codes of Resource Manager itself, which refuses before AKS hears of a request (recorded: aks-cluster-not-found, whose
x-ms-failure-cause is gateway; of the others it is assumed)."""


class AzureError(Exception):
    """A refusal by the simulated Azure.

    status: the HTTP status Azure answers with; code: Azure's error code, as programs match it.
    """

    def __init__(
        self, status: HTTPStatus, code: str, message: str, *, target: str | None = None, detail: str | None = None
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.detail = detail
        super().__init__(_printed(status, code, message))

    def body(self, *, of_aks: bool) -> dict[str, Any]:
        """The answer's body. of_aks: the request was about a cluster, or something in one."""
        if not of_aks or self.code in _OF_THE_GATEWAY:
            return {"error": {"code": self.code, "message": self.message}}
        details = [{"code": "Unspecified", "message": self.detail}] if self.detail else None
        target = {"target": self.target} if self.target else {}
        return {"code": self.code, "details": details, "message": self.message, "subcode": ""} | target

    def of_aks(self) -> str:
        """azure-native's print of it when the request was about a cluster, or something in one."""
        body = self.body(of_aks=True)
        if "error" in body:
            return str(self)
        return _printed(self.status, self.code, json.dumps(body, indent=1, ensure_ascii=False))

    def after_acceptance(self) -> str:
        """azure-native's print of it when the request had been accepted."""
        return _printed(HTTPStatus.OK, self.code, self.message)


def _printed(status: HTTPStatus, code: str, message: str) -> str:
    return f'Status={status.value} Code="{code}" Message="{message}"'


class AlreadyExistsError(Exception):
    """azure-native's own refusal to create what exists. because: what to add to its sentence."""

    def __init__(self, resource: str, *, because: str = "") -> None:
        cause = f" ({because})" if because else ""
        super().__init__(f"cannot create already existing resource '{resource}'{cause}")


class NotSimulatedError(Exception):
    """The program requests something that this rehearsal lacks, although Azure may well have it."""


def refused(condition: str, *, detail: str | None = None, **values: object) -> AzureError:
    """The refusal for a condition of refusals.yaml. values: what its words name."""
    row = _refusals()[condition]
    target, says = row.get("target", row.get("parameter")), row.get("says", "")
    if "parameter" in row:
        says = f"The value of parameter {row['parameter']} is invalid. Error details: {row['reason']}."
        says += "" if row.get("plain") else _NAMING_RULES
    return AzureError(
        HTTPStatus(row.get("status", HTTPStatus.BAD_REQUEST)),
        row["code"],
        says.format(**values),
        target=target and target.format(**values),
        detail=detail,
    )


@cache
def _refusals() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = yaml.safe_load(REFUSALS.read_text(encoding="utf-8"))
    return table


def not_found(arm_type: str, name: str, group: str) -> AzureError:
    """The refusal of a resource that is not there, or of one without its parent."""
    return refused("no-such-resource-in-a-group", type=arm_type, name=name, group=group)
