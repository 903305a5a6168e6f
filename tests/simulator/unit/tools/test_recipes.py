"""The programs that are built, and those of a half-built draft that are used again."""

from pathlib import Path

from rehearsal.tools import pins
from rehearsal.tools.recipes import Recipe, recipes


def test_a_program_is_built_when_all_of_it_is_there(tmp_path: Path) -> None:
    recipe = Recipe(
        name="program",
        module="module",
        package=".",
        install=lambda built, tools, source: None,
        outputs=("bin/program", "bin/script"),
    )
    assert not recipe.is_built(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "script").touch()
    assert not recipe.is_built(tmp_path)
    (tmp_path / "bin" / "program").touch()
    assert recipe.is_built(tmp_path)


def test_every_program_of_the_engine_room_has_a_recipe_of_its_own_and_outputs() -> None:
    table = recipes()
    assert {recipe.name for recipe in table} == {
        "kubernetes",
        "pulumi",
        "pulumi-resource-kubernetes",
        "pulumi-language-python",
    }
    outputs = [Path(output).name for recipe in table for output in recipe.outputs]
    assert {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "pulumi"} <= set(outputs)
    assert len(outputs) == len(set(outputs))


def test_the_plugin_folder_carries_the_version_that_go_mod_says() -> None:
    (provider,) = (recipe for recipe in recipes() if recipe.name == "pulumi-resource-kubernetes")
    version = pins.kubernetes_provider_version()
    assert {Path(output).parent.name for output in provider.outputs} == {f"resource-kubernetes-v{version}"}
    assert f"Version={version}" in provider.link_flags
