"""When a program counts as built, and when it is built again."""

from pathlib import Path

import pytest

from rehearsal.tools import pins
from rehearsal.tools import recipes as recipe_table
from rehearsal.tools.recipes import Recipe, recipes


@pytest.fixture(name="recipe")
def _recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setattr(recipe_table, "STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(recipe_table, "SOURCES", tmp_path / "sources")
    module = tmp_path / "sources" / "module"
    (module / "more").mkdir(parents=True)
    (module / "go.mod").write_text("module example\n")
    (module / "more" / "main.go").write_text("package main\n")
    (tmp_path / "program").touch()
    recipe = _program(tmp_path)
    recipe.mark_built()
    return recipe


def _program(folder: Path, variables: dict[str, str] | None = None) -> Recipe:
    return Recipe(
        name="program",
        module="module",
        package=".",
        install=lambda built, source: None,
        outputs=(folder / "program",),
        variables=variables or {},
    )


def test_what_has_been_built_is_not_built_again(recipe: Recipe) -> None:
    assert recipe.is_built()


def test_a_program_that_has_gone_is_built_again(recipe: Recipe) -> None:
    recipe.outputs[0].unlink()
    assert not recipe.is_built()


def test_a_program_without_a_stamp_is_built_again(recipe: Recipe) -> None:
    recipe.stamp.unlink()
    assert not recipe.is_built()


@pytest.mark.parametrize("changed", ["go.mod", "go.sum", "main.go", "more/main.go"])
def test_a_changed_file_of_the_module_makes_its_programs_be_built_again(recipe: Recipe, changed: str) -> None:
    (recipe.source / changed).write_text("something else\n")
    assert not recipe.is_built()


def test_a_changed_version_makes_the_program_be_built_again(recipe: Recipe, tmp_path: Path) -> None:
    assert not _program(tmp_path, {"main.version": "v2"}).is_built()


def test_every_program_of_the_engine_room_has_a_recipe_of_its_own_and_outputs() -> None:
    table = recipes()
    assert {recipe.name for recipe in table} == {
        "kubernetes",
        "pulumi",
        "pulumi-resource-kubernetes",
        "pulumi-language-python",
    }
    outputs = [output.name for recipe in table for output in recipe.outputs]
    assert {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "pulumi"} <= set(outputs)
    assert len(outputs) == len(set(outputs))


def test_the_plugin_folder_carries_the_version_that_go_mod_says() -> None:
    (provider,) = (recipe for recipe in recipes() if recipe.name == "pulumi-resource-kubernetes")
    version = pins.kubernetes_provider_version()
    assert {output.parent.name for output in provider.outputs} == {f"resource-kubernetes-v{version}"}
    assert f"Version={version}" in provider.link_flags
