"""Parts that are known to be behind: node images without a bulletin's remedy or too old, and patches of Kubernetes."""

from datetime import date

import pytest
from aks_infiniband.facts.kubernetes import RELEASES
from aks_infiniband.facts.patches import BULLETINS, NEWEST_PATCHES, PATCHES_AS_OF, image_behind, newer_than

from rehearsal.azure.node_images import newest_release

SHORTLY_AFTER = date(2026, 4, 20)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("AKSUbuntu-2404gen2containerd-202604.13.0", []),
        ("AKSUbuntu-2404gen2containerd-202604.12.3", ["AKS-2026-0003"]),
        ("AKSAzureLinux-V3gen2-202511.06.0", ["AKS-2026-0003", "AKS-2025-0012", "165 days old"]),
        ("AKSWindows-2022-containerd-20348.1.202401", []),
        ("", []),
    ],
)
def test_an_image_lacks_the_remedies_of_the_bulletins_that_came_after_it(image: str, words: list[str]) -> None:
    told = image_behind(image, SHORTLY_AFTER)
    assert len(told) == len(words)
    assert all(word in said for word, said in zip(words, told, strict=True))


def test_an_image_is_supported_for_ninety_days() -> None:
    image = "AKSUbuntu-2404gen2containerd-202610.27.0"
    assert image_behind(image, date(2027, 1, 25)) == []
    assert image_behind(image, date(2027, 1, 26)) == ["it is 91 days old, and AKS supports none older than 90"]


def test_the_image_of_a_rehearsal_is_never_behind() -> None:
    for day in (date(2026, 11, 23), date(2027, 1, 1), date(2030, 6, 30)):
        release = newest_release(day)
        assert image_behind(f"AKSUbuntu-2404gen2containerd-{release}", day) == []
    assert newest_release(date(2026, 11, 23)) == "202610.27.0"


def test_what_a_region_offers_counts_before_what_is_known() -> None:
    assert newer_than("1.36.1") == ["1.36.3", "1.36.2"]
    assert newer_than("1.36.1", ["1.36", "1.36.1", "1.36.4", "1.35.9"]) == ["1.36.4"]
    assert newer_than("1.36.1", ["1.36"]) == ["1.36.3", "1.36.2"]
    assert newer_than("1.99.0") == []


def test_the_tables_are_of_minor_versions_that_are_known_and_in_order() -> None:
    assert set(RELEASES) - set(NEWEST_PATCHES) == {(1, 37)}, f"not there yet on {PATCHES_AS_OF}"
    assert all(older < newer for older, newer in NEWEST_PATCHES.values())
    assert [each.image for each in BULLETINS] == sorted((each.image for each in BULLETINS), reverse=True)
