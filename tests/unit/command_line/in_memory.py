"""An API server in memory, which answers the calls of lightkube's client."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from lightkube import ApiError
from lightkube.models.meta_v1 import Status


def refused(status: int) -> ApiError:
    """The error of a request that the API server refuses."""
    return ApiError(status=Status(code=status, message="no"))


class ApiServer:
    """Objects by kind, namespace and name. A write on an older version is a conflict.

    refuses: the status of each request that is refused, by verb and kind. conflicts: as many writes meet one.
    """

    def __init__(self, refuses: Mapping[str, int] | None = None, conflicts: int = 0) -> None:
        self.refuses, self.conflicts = refuses or {}, conflicts
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.patches: list[Any] = []

    def put(self, kind: str, document: dict[str, Any]) -> None:
        """Have an object that another program has made."""
        metadata = document["metadata"]
        self.objects[kind, metadata.get("namespace", ""), metadata["name"]] = document

    @property
    def config_maps(self) -> dict[str, dict[str, Any]]:
        """The ConfigMaps of every namespace, by name."""
        return {name: found for (kind, _, name), found in self.objects.items() if kind == "ConfigMap"}

    def get(self, kind: Any, name: str, namespace: str = "", **_: Any) -> Any:
        self._answer("get", kind)
        found = self.objects.get((kind.__name__, namespace, name))
        if found is None:
            raise refused(404)
        return SimpleNamespace(to_dict=lambda: found)

    def list(self, kind: Any, namespace: str = "", labels: Any = None, **_: Any) -> Iterator[Any]:
        self._answer("list", kind)
        for (name, place, _name), document in [*self.objects.items()]:
            has = document["metadata"].get("labels") or {}
            if name == kind.__name__ and namespace in ("", place) and (labels or {}).items() <= has.items():
                yield SimpleNamespace(to_dict=lambda document=document: document)

    def create(self, made: Any) -> Any:
        self._answer("create", type(made))
        return self._keep(made, there=False)

    def replace(self, made: Any) -> Any:
        self._answer("replace", type(made))
        return self._keep(made, there=True)

    def patch(self, kind: Any, _: str, patch: Any, **__: Any) -> None:
        self._answer("patch", kind)
        self.patches.append(patch)

    def delete(self, kind: Any, name: str) -> None:
        """Delete a namespace with all that is in it, or that it owns."""
        gone = self.objects.pop((kind.__name__, "", name))["metadata"]
        for key, found in [*self.objects.items()]:
            owners = {owner["uid"] for owner in found["metadata"].get("ownerReferences") or ()}
            if key[1] == name or gone.get("uid") in owners:
                del self.objects[key]

    def _answer(self, verb: str, kind: Any) -> None:
        if status := self.refuses.get(f"{verb} {kind.__name__}"):
            raise refused(status)

    def _keep(self, made: Any, *, there: bool) -> Any:
        document, kind = made.to_dict(), type(made).__name__
        metadata = document["metadata"]
        key = (kind, metadata.get("namespace", ""), metadata["name"])
        before = self.objects.get(key, {"metadata": {}})["metadata"].get("resourceVersion")
        if self.conflicts or there != (key in self.objects) or metadata.get("resourceVersion") != before:
            self.conflicts -= bool(self.conflicts)
            raise refused(409)
        metadata |= {"uid": f"uid-{metadata['name']}", "resourceVersion": str(int(before or 0) + 1)}
        self.objects[key] = document
        return type(made).from_dict(document)
