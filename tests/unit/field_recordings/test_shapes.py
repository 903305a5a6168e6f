"""The differences of two bodies are given by field path, and nothing that has one shape differs."""

from tests.unit.field_recordings.shapes import differences, shape


def test_a_field_has_one_path_however_long_the_list_it_stands_in() -> None:
    body = {"pools": [{"name": "a"}, {"name": "b", "count": 1}], "labels": {}}
    assert shape(body) == {
        "pools": "list",
        "pools[]": "object",
        "pools[].name": "text",
        "pools[].count": "number",
        "labels": "object",
    }


def test_what_is_left_out_what_is_added_and_what_has_another_type_is_told_apart() -> None:
    assert differences({"a": 1, "b": "x", "c": True}, {"b": 1, "c": False, "d": None}) == {
        "a": "left out",
        "b": "number, not text",
        "d": "added",
    }


def test_the_keys_of_a_map_are_data() -> None:
    assert differences({"labels": {"a": "x"}}, {"labels": {"b": "y", "c": "z"}}, maps={"labels"}) == {}
