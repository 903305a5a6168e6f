"""A section's treatment of values that are left out, and of values that are not well-formed."""

from typing import Any

import pytest
from aks_infiniband.handwritten.section import Section, Unreadable, follows
from pydantic import ValidationError


class Inner(Section):
    """A section in another."""

    depth: int = 1
    """The depth."""


class Box(Section):
    """A base, whose fields a section has too."""

    width: int
    """The width."""
    height: int = follows(lambda box: box.width * 2)
    """The height. Default: twice the width."""


class Crate(Box):
    """A section with a base."""

    labels: tuple[str, ...] = follows(lambda crate: (f"{crate.height} high",))
    """The labels on it."""
    inner: Inner = Inner()
    colour: str = "red"
    """Its paint."""


def test_what_is_left_out_follows_from_what_is_there() -> None:
    assert (Crate(width=2).height, Crate(width=2).labels) == (4, ("4 high",))
    assert (Crate(width=2, height=7).height, Crate(width=2, height=7).labels) == (7, ("7 high",))


@pytest.mark.parametrize("nothing", [None, (), []])
def test_null_and_an_empty_list_leave_a_value_out(nothing: Any) -> None:
    crate = Crate(width=2, height=None, labels=nothing)  # type: ignore[arg-type]
    assert (crate.height, crate.labels) == (4, ("4 high",))
    assert crate.model_fields_set == {"width"}
    assert (crate.said("height"), crate.said("width"), crate.said("colour")) == (None, 2, "red")


@pytest.mark.parametrize("field", [{"height": {}}, {"height": []}, {"height": ""}, {"labels": {}}, {"labels": ""}])
def test_an_empty_value_of_another_type_is_a_mistake(field: Any) -> None:
    with pytest.raises(ValidationError, match=next(iter(field))):
        Crate(width=2, **field)


def test_what_has_changed_is_followed_anew() -> None:
    assert Crate(width=2).changed(width=5).labels == ("10 high",)
    assert Crate(width=2, height=3).changed(width=5).height == 3
    with pytest.raises(ValidationError, match="width"):
        Crate(width=2).changed(width="wide")


def test_zero_and_false_are_values() -> None:
    assert Crate(width=2, height=0).height == 0


def test_a_value_that_is_not_well_formed_is_not_read_and_neither_is_what_follows_from_it() -> None:
    crate = Crate.with_holes({"width": "wide", "colour": 3, "unknown": 1})
    for name in ("width", "height", "labels", "colour"):
        with pytest.raises(Unreadable):
            getattr(crate, name)
    assert crate.inner.depth == 1
    with pytest.raises(Unreadable):
        crate.said("colour")
    with pytest.raises(Unreadable):
        crate.whole()


def test_a_value_that_should_follow_and_is_not_well_formed_does_not_follow() -> None:
    crate = Crate.with_holes({"width": 2, "height": "high"})
    assert crate.width == 2
    with pytest.raises(Unreadable):
        _ = crate.height
    assert list(crate.given("width", "height", "colour")) == [("width", 2)]


def test_what_is_missing_is_not_read() -> None:
    with pytest.raises(Unreadable):
        _ = Crate.with_holes({}).width


def test_a_section_that_is_no_mapping_has_nothing_that_is_read() -> None:
    crate = Crate.with_holes({"width": 1, "inner": "deep"})
    with pytest.raises(Unreadable):
        _ = crate.inner.depth
