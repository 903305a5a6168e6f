"""Azure resources that a team describes as data, next to its program."""

from pathlib import Path

from rehearsal.azure.described import described_kinds

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
