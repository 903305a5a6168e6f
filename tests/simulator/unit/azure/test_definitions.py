"""The comparison with Azure's definitions finds what they and azure-native's classes do not share."""

import copy
import json
from pathlib import Path
from typing import Any, Final

import pytest

from rehearsal.azure.resources.identities import USER_ASSIGNED_IDENTITY
from tests.azure_definitions import differences, main

IDENTITY: Final[list[dict[str, Any]]] = [
    {"$type": "StringType"},
    {"$type": "StringLiteralType", "value": "None"},
    {"$type": "StringLiteralType", "value": "Regional"},
    {"$type": "UnionType", "elements": [{"$ref": "#/0"}, {"$ref": "#/1"}, {"$ref": "#/2"}]},
    {"$type": "ObjectType", "properties": {"isolation-scope": {"type": {"$ref": "#/3"}, "flags": 0}}},
    {"$type": "ObjectType", "properties": {"principalId": {"type": {"$ref": "#/0"}, "flags": 2}}},
    {
        "$type": "ObjectType",
        "properties": {
            "location": {"type": {"$ref": "#/0"}, "flags": 1},
            "properties": {"type": {"$ref": "#/5"}, "flags": 0},
            "tags": {"type": {"$ref": "#/0"}, "flags": 0},
        },
    },
    {
        "$type": "ResourceType",
        "name": "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31",
        "body": {"$ref": "#/6"},
    },
]


def test_what_azure_fills_in_itself_is_no_difference() -> None:
    assert differences(USER_ASSIGNED_IDENTITY, IDENTITY) == []


def test_a_property_of_one_side_alone_is_named() -> None:
    changed = copy.deepcopy(IDENTITY)
    body = changed[6]["properties"]
    body["zone"] = body.pop("tags")
    found = differences(USER_ASSIGNED_IDENTITY, changed)
    assert found == [".tags: azure-native has it, Azure has not", ".zone: Azure has it, azure-native has not"]


def test_another_version_is_no_definition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert differences(USER_ASSIGNED_IDENTITY, [{**IDENTITY[7], "name": IDENTITY[7]["name"] + "-preview"}]) is None
    assert main(tmp_path) == 1
    assert "userAssignedIdentities 2023-01-31: 1 difference\n  is not defined" in capsys.readouterr().out


def test_a_checkout_is_searched_for_the_version_that_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "generated/msi/microsoft.managedidentity/2023-01-31/types.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(IDENTITY))
    main(tmp_path)
    assert "Microsoft.ManagedIdentity/userAssignedIdentities 2023-01-31: no differences" in capsys.readouterr().out
