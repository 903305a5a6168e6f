"""Azure resources that a team describes as data, next to its program."""

from pathlib import Path

import pytest

from rehearsal.azure.described import ResourcesFileError, described_kinds

REGISTRY = "azure-native:containerregistry:Registry"
PATH = (
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerRegistry"
    "/registries/{registryName}"
)


def test_a_described_type_has_the_published_models_properties_and_the_name_of_its_path(tmp_path: Path) -> None:
    file = tmp_path / "rehearsal.azure.yaml"
    file.write_text(f"{REGISTRY}:\n  path: {PATH}\n  replacing: [location]\n")
    kind = described_kinds(file)[REGISTRY]
    assert (kind.arm_type, kind.name_parameter) == ("Microsoft.ContainerRegistry/registries", "registryName")
    assert kind.replacing() == {"location", "resourceGroupName", "registryName"}
    assert "loginServer" in kind.output_names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "must be a mapping of types"),
        (f"{REGISTRY}: {{}}", "path"),
        (f"{REGISTRY}: {{path: /registries}}", "An example is path: /subscriptions/"),
        (f"{REGISTRY}: {{path: '{PATH}', output: {{}}}}", "output is not known"),
        (f"azure-native:nosuch:Thing: {{path: '{PATH}'}}", "azure-native:nosuch:Thing is not a resource"),
        (f"Registry: {{path: '{PATH}'}}", "a type is azure-native:module:Resource"),
        ("a:\n\t- x", "not YAML"),
    ],
)
def test_a_mistake_in_the_file_names_file_type_and_what_may_be(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "rehearsal.azure.yaml"
    file.write_text(text)
    with pytest.raises(ResourcesFileError, match=r"rehearsal\.azure\.yaml") as refused:
        described_kinds(file)
    assert said in str(refused.value)
