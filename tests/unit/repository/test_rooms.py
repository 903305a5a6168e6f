"""The rooms of every package: few, drawn on the contributors' pages, and every import between them points one way."""

import pytest

from pages import rooms

MOST_ROOMS = 20


@pytest.mark.parametrize("package", rooms.PACKAGES)
def test_a_package_has_few_rooms_and_no_import_points_upward(package: str) -> None:
    imports = rooms.imports_between_rooms(package)

    assert len(imports) <= MOST_ROOMS
    assert not rooms.upward(imports)


def test_a_circle_of_rooms_is_found() -> None:
    circle = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"a"}), "d": frozenset({"a"})}

    assert rooms.upward(circle) == {("a", "b"), ("b", "c"), ("c", "a")}
