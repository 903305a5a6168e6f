"""Registries' answers when an image cannot be pulled, in the words of containerd 2 and the kubelet."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Mapping
    from typing import Final

ANSWERS: "Final[Mapping[str, str]]" = {
    # nloui/paperless-mcp issue 10, gitpod-io/gitpod issue 14837.
    "unauthorized": "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to "
    "https://{host}/proxy_auth: 401 Unauthorized",
    # containerd, core/remotes/docker/resolver.go.
    "denied": "pull access denied, repository does not exist or may require authorization: server message: "
    "insufficient_scope: authorization failed",
    "not-found": "{image}: not found",
    # Docker Hub, "Usage and limits"; containerd puts the status in front of it.
    "throttled": "unexpected status code https://{host}/v2/manifests: 429 Too Many Requests - Server message: "
    "toomanyrequests: You have reached your unauthenticated pull rate limit",
    "unreachable": 'failed to do request: Head "https://{host}/v2/manifests": dial tcp: lookup {host}: no such host',
}
"""By the `answer` of the fault image-pull."""


def kubelets_words(image: str, answer: str) -> str:
    """The message of a container in ImagePullBackOff. answer: a key of ANSWERS."""
    said = ANSWERS[answer].format(image=image, host=image.partition("/")[0])
    return (
        f'Back-off pulling image "{image}": ErrImagePull: failed to pull and unpack image "{image}": failed to resolve '
        f'reference "{image}": {said}'
    )
