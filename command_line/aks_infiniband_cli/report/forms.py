"""The forms of what the engine and a rehearsal have written: a state, the events of an update, a result."""

from typing import Annotated, Self

from aks_infiniband.handwritten.form import Form
from pydantic import Field, model_validator

_Urn = Annotated[str, Field(pattern=r"::", max_length=10_000)]
_Moment = Annotated[float, Field(ge=0, le=1e11)]
"""Seconds since 1970; as far as the year 5138."""
_Seconds = Annotated[float, Field(ge=0, le=1e8)]
"""Duration of an update; three years."""


class Resource(Form):
    """A resource in a state, as far as reports are looked for."""

    type: str | None = None
    outputs: dict[str, object] | None = None


class _Deployment(Form):
    resources: list[Resource] | None = None


class _Checkpoint(Form):
    latest: _Deployment | None = None


class State(Form):
    """The output of `pulumi stack export`, or the file that a backend in a folder keeps."""

    deployment: _Deployment | None = None
    checkpoint: _Checkpoint | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.deployment is None and self.checkpoint is None:
            raise ValueError("must be what `pulumi stack export` prints, a mapping with deployment")
        return self


class _Placed(Form):
    urn: _Urn
    custom: bool = False
    dependencies: list[str] = Field(default_factory=list)
    provider: str | None = None


class PlacedResources(Form):
    """The resources of a state, as far as a timeline is drawn of them."""

    resources: list[_Placed] | None = None


class _Row(Form):
    urn: _Urn
    status: str
    start_s: _Seconds
    end_s: _Seconds

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
        if self.end_s < self.start_s:
            raise ValueError("must not end before it starts")
        return self


class Result(Form):
    """The result.json of a rehearsal."""

    resources: list[_Row]


class _Metadata(Form):
    urn: _Urn
    op: str


class _Operation(Form):
    metadata: _Metadata | None = None


class Event(Form):
    """A line of the engine's event log."""

    timestamp: _Moment
    resourcePreEvent: _Operation | None = None  # noqa: N815  the engine's names
    resOutputsEvent: _Operation | None = None  # noqa: N815
    resOpFailedEvent: _Operation | None = None  # noqa: N815
