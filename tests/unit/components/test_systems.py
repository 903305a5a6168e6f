"""One table of systems: settings, preflight and the page read it."""

import pytest
from aks_infiniband.facts.kubernetes import Minor
from aks_infiniband.facts.systems import AZURE_LINUX_GPUS, OS_SKUS, UNPROVEN, OnKubernetes, refuse_gpus, unproven
from aks_infiniband_cli.preflight.systems import systems

from tests.snippets import DOCS
from tests.some_pools import A100, GB300, H100, MI300X, pool
from tests.unit.components import stack_files


def written(version: Minor) -> str:
    return ".".join(map(str, version))


def kubernetes(part: OnKubernetes) -> str:
    if part.until is None:
        return f"from {written(part.since)}"
    return f"{written(part.since)} to {written(part.until)}" if part.since > (0, 0) else f"to {written(part.until)}"


def test_the_page_has_the_table() -> None:
    page = (DOCS / "preflight.md").read_text()
    for sku, parts in OS_SKUS.items():
        azure_linux = sku.startswith("AzureLinux")
        gpus = ", ".join(sorted(AZURE_LINUX_GPUS)) if azure_linux else "all"
        proofs = ["unproven" if any(sku.startswith(each.sku) for each in UNPROVEN) else "published"] * 2
        for part in parts:
            cells = [f"`{sku}`", part.system, kubernetes(part), gpus, *proofs]
            assert f"| {' | '.join(cells)} |" in page


def test_gpus_that_aks_does_not_have_under_a_system_are_refused() -> None:
    for size in [A100, H100, GB300, MI300X]:
        for sku in OS_SKUS:
            gpus = pool(size).size.accelerator
            assert gpus is not None
            if sku.startswith("AzureLinux") and gpus.model not in AZURE_LINUX_GPUS:
                with pytest.raises(ValueError, match="must be Ubuntu for"):
                    refuse_gpus(sku, gpus)
            else:
                refuse_gpus(sku, gpus)


def test_what_no_one_publishes_is_said_to_be_unproven() -> None:
    for gpu_driver in ["operator", "aks"]:
        for nic_driver in ["doca-ofed", "inbox"]:
            for sku in OS_SKUS:
                found = {
                    each.driver for each in unproven(sku, pool(A100, nic_driver=nic_driver, gpu_driver=gpu_driver))
                }
                drivers = {f"nicDriver {nic_driver}", f"gpuDriver {gpu_driver}"} & {each.driver for each in UNPROVEN}
                assert found == (drivers if sku.startswith("AzureLinux") else set())


def test_preflight_says_what_is_unproven_and_does_not_fail_by_it() -> None:
    made = [stack_files.pool(vmSize=A100, osSku="AzureLinux3"), stack_files.named("hb", "Standard_HB176rs_v4")]
    lines = list(systems(stack_files.loaded(pools=made)))
    assert {line.state for line in lines} == {"not checked"}
    assert [line.check for line in lines] == ["system of pool ndh100"] * 2
    assert "unproven: NVIDIA's lists of images" in lines[0].found


def test_preflight_says_that_gpus_of_flexible_sizes_are_unproven() -> None:
    size = "Standard_ND96is_flex_H100_v5"
    made = [stack_files.pool(), stack_files.named("part", "Standard_D8s_v5") | {"vmSize": size, "infiniband": False}]
    (line,) = systems(stack_files.loaded(pools=made))
    assert (line.check, line.state) == ("system of pool part", "not checked")
    assert f"GPUs of {size} are unproven" in line.found
