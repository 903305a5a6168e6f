"""What Azure answers when it refuses, in the words that azure-native prints."""

from http import HTTPStatus


class AzureError(Exception):
    """A refusal by the simulated Azure.

    status: the HTTP status Azure answers with; code: Azure's error code, as programs match it.
    """

    def __init__(self, status: HTTPStatus, code: str, message: str, *, target: str | None = None) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        where = f' Target="{target}"' if target else ""
        super().__init__(f'Status={status.value} Code="{code}" Message="{message}"{where}')


class AlreadyExistsError(Exception):
    """azure-native's own refusal to create what exists. because: what else there is to know."""

    def __init__(self, resource: str, *, because: str = "") -> None:
        cause = f" ({because})" if because else ""
        super().__init__(f"cannot create already existing resource '{resource}'{cause}")


class NotSimulatedError(Exception):
    """The program asks for something that Azure may well have and this rehearsal does not."""


def bad_request(code: str, message: str, *, target: str | None = None) -> AzureError:
    """The request can never succeed as it is."""
    return AzureError(HTTPStatus.BAD_REQUEST, code, message, target=target)


def conflict(code: str, message: str) -> AzureError:
    """The request cannot succeed now."""
    return AzureError(HTTPStatus.CONFLICT, code, message)


def not_found(arm_type: str, name: str, group: str) -> AzureError:
    """A resource that is not there, or a parent of one."""
    return AzureError(
        HTTPStatus.NOT_FOUND,
        "ResourceNotFound",
        f"The Resource '{arm_type}/{name}' under resource group '{group}' was not found. For more details please go to "
        "https://aka.ms/ARMResourceNotFoundFix",
    )


def group_not_found(group: str) -> AzureError:
    """A resource group that is not there."""
    return AzureError(HTTPStatus.NOT_FOUND, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")
