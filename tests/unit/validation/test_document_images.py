"""The images that a pool is measured in, and how Python comes into one that has none."""

from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.versions import NCCL_IMAGE, VALIDATION_IMAGE
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.program import payload_files

from tests.unit.validation.test_documents import container, init_container, spec_of


def test_gpus_are_measured_with_nccls_own_image_into_which_python_comes_at_the_start(pool: Any) -> None:
    spec = spec_of(pool, ValidationOptions())
    awaits, measures = init_container(spec), container(spec)
    assert (awaits["image"], measures["image"]) == (VALIDATION_IMAGE, NCCL_IMAGE)
    assert awaits["command"] == ["python3", "-m", "payload.await_nodes"], "it may install nothing"
    script, image, log, module = measures["command"][1:]
    assert (measures["command"][0], module) == ("sh", "payload.validate")
    assert (image, log) == (measures["image"], measures["terminationMessagePath"])
    assert script.rpartition("/")[2] in payload_files()
    assert measures["securityContext"]["runAsUser"] == 0
    mirrored = spec_of(pool, ValidationOptions(), registry=Registry(images="acr.example"))
    assert container(mirrored)["command"][2] == f"acr.example/{NCCL_IMAGE.partition('/')[2]}"


def test_another_image_has_python(pool: Any) -> None:
    spec = spec_of(pool, ValidationOptions(image="example.com/nccl:1"))
    assert [init_container(spec)["image"], container(spec)["image"]] == ["example.com/nccl:1"] * 2
    assert container(spec)["command"] == ["python3", "-m", "payload.validate"]


def test_a_size_without_gpus_is_measured_with_the_small_image(pool: Any) -> None:
    cpu = pool.changed(size=SIZES["Standard_HB120rs_v3"], gpu_driver="none")
    spec = spec_of(cpu, ValidationOptions())
    assert {init_container(spec)["image"], container(spec)["image"]} == {VALIDATION_IMAGE}
