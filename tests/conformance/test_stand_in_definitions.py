"""Our small custom resource definitions accept nothing that the real ones refuse, and name nothing that they lack."""

from collections.abc import Iterator
from pathlib import Path

from rehearsal.stack.stand_in_charts import RELEASES
from tests.conformance.distil.definitions import distil
from tests.conformance.facts import definitions
from tests.conformance.notation import Fields, below, required, said
from tests.conformance.stand_ins import DRA_DRIVER, OPERATORS, chart_of

REHEARSAL = Path(__file__).parents[2] / "rehearsal"
WITHOUT_RELEASE = [*REHEARSAL.glob("operators/crds/*.yaml"), *REHEARSAL.glob("stack/definitions/*.yaml")]
DRIVERS = {"26.4": [DRA_DRIVER], "26.7": []}
"""Drivers next to the operators, whose definitions these bring from 26.7 on."""
OURS = {
    (release, name): said
    for release in RELEASES
    for folder in (chart_of(release, chart) for chart in (*OPERATORS, "node-feature-discovery", *DRIVERS[release]))
    for file in (*sorted((folder / "crds").glob("*.yaml")), *WITHOUT_RELEASE)
    for name, said in distil(file.read_text())["definitions"].items()
}
"""By release and name."""


def differences(ours: Fields, real: Fields, path: str = "") -> Iterator[str]:
    """The differences between our definition and the real one, for the fields that ours has."""
    mine, theirs = said(ours), said(real)
    for word in ("type", "enum", "default", "minimum", "open"):
        if mine.get(word) != theirs.get(word):
            yield f"{path}: {word} {mine.get(word)}, really {theirs.get(word)}"
    needed = required(real) & set(below(ours))
    if required(ours) != needed:
        yield f"{path}: requires {sorted(required(ours))}, really {sorted(needed)}"
    parts = below(real)
    for name, part in below(ours).items():
        if name in parts:
            yield from differences(part, parts[name], f"{path}.{name}")
        else:
            yield f"{path}.{name}: the real one has no such field"


def test_definition_says_what_the_real_one_says() -> None:
    for (release, name), ours in OURS.items():
        real = definitions(release)[name]
        assert (ours["group"], ours["scope"]) == (real["group"], real["scope"])
        assert ours["names"].items() <= real["names"].items()
        for version, its in ours["versions"].items():
            found = list(differences(its["fields"], real["versions"][version]["fields"]))
            assert not found, "\n".join(found)
            for key in ("served", "storage", "subresources"):
                assert its[key] == real["versions"][version][key]


def test_every_object_of_every_definition_says_what_it_may_hold() -> None:
    """Without this the API server would prune what it does not know in silence, or keep it."""

    def silent(fields: Fields, path: str) -> Iterator[str]:
        parts = below(fields)
        if "open" in said(fields) or (said(fields)["type"] == "object" and path.count(".") > 1 and not parts):
            yield path
        for name, part in parts.items():
            if (path, name) != ("", "metadata"):
                yield from silent(part, f"{path}.{name}")

    found = {
        name: list(silent(version["fields"], ""))
        for name, ours in OURS.items()
        for version in ours["versions"].values()
    }
    # NFD keeps the elements of flags as empty objects: their keys are all they say.
    for release in RELEASES:
        found[release, "nodefeatures.nfd.k8s-sigs.io"].remove(".spec.features.flags.*.elements.*")
    assert not any(found.values()), found


def test_differences_are_found_where_there_are_some() -> None:
    real = {"a!": "string", "b": {"$type": "string", "$enum": ["x", "y"]}, "d": ["string"], "e": "int-or-string"}
    ours = {"a": "integer", "b": {"$type": "string", "$enum": ["x"]}, "c": "string", "d": ["object"], "e": "string"}
    assert [line.split(":")[0] for line in differences(ours, real)] == ["", ".a", ".b", ".c", ".d.[]", ".e"]
