"""A rank's values in a GPU's memory, and the errors that it finds there; the runtime library's memory is ours."""

import ctypes
from array import array
from functools import partial
from typing import Any

import pytest
from aks_infiniband.validation.payload.collective import gpu
from aks_infiniband.validation.payload.collective.gpu import PERIOD, Gpu, expected_sum, own_value
from aks_infiniband.validation.payload.collective.nccl import repeated

WORD = 4


class Library:
    """A runtime library whose GPU memory is this process's."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        self.copies = 0
        for name in (
            "SetDevice",
            "StreamCreate",
            "EventRecord",
            "EventQuery",
            "EventElapsedTime",
            "GetErrorString",
            "Free",
        ):
            setattr(self, f"hip{name}", lambda *_: 0)
        # partial, because types of arguments are set on a library's functions, and no method takes them.
        self.hipMalloc, self.hipMemcpy = partial(self.allocate), partial(self.copy)

    def allocate(self, reference: Any, size: int) -> int:
        self.held.append(ctypes.create_string_buffer(b"\xff" * size, size))
        reference._obj.value = ctypes.addressof(self.held[-1])
        return 0

    def copy(self, target: Any, source: Any, size: int, kind: int) -> int:
        self.copies += 1
        ctypes.memmove(target, source, size)
        return 0


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    monkeypatch.setattr(gpu, "opened", lambda names: found)
    return found


def device() -> Gpu:
    """An AMD GPU, whose memory is read back to be checked."""
    return Gpu(gpu.VENDORS[1], 0)


@pytest.mark.parametrize("count", [1, 2, PERIOD - 1, PERIOD, PERIOD + 1, 5 * PERIOD + 3, 3_000_000])
def test_every_element_is_the_ranks_own_and_the_last_is_inside(library: Library, count: int) -> None:
    memory = device()
    address = memory.allocate(count * WORD + WORD)
    memory.fill(address, count * WORD, repeated(own_value, 3))
    held = array("f", memory.read(address, count * WORD))
    assert list(held) == [own_value(position, 3) for position in range(count)]
    assert memory.read(address + count * WORD, WORD) == b"\xff" * WORD, "nothing is written behind the message"


def test_a_large_message_takes_a_few_copies(library: Library) -> None:
    memory = device()
    address = memory.allocate(PERIOD * WORD * 1024)
    memory.fill(address, PERIOD * WORD * 1024, repeated(own_value, 0))
    assert library.copies == 1 + 10, "one from here, and ten that double"


@pytest.mark.parametrize("count", [2, 5 * PERIOD + 3, 3_000_000])
def test_a_right_sum_has_nothing_wrong_and_each_changed_element_is_counted(library: Library, count: int) -> None:
    memory, expected = device(), repeated(expected_sum, 16)
    address = memory.allocate(count * WORD)
    memory.fill(address, count * WORD, expected)
    assert memory.differing(address, count * WORD, expected) == 0
    for position in (0, count - 1):
        memory.write(address + position * WORD, b"\0\0\xc0\x7f")  # not a number
    assert memory.differing(address, count * WORD, expected) == 2


def test_a_block_in_anothers_place_is_wrong(library: Library) -> None:
    memory, expected = device(), repeated(expected_sum, 16)
    size = 1 << 20
    address = memory.allocate(size)
    memory.fill(address, size, expected)
    memory.write(address, memory.read(address + (1 << 19), 1 << 10))
    assert memory.differing(address, size, expected) > 200


def test_an_error_is_in_the_librarys_words(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "hipSetDevice", lambda number: 101)
    monkeypatch.setattr(library, "hipGetErrorString", lambda code: b"invalid device ordinal")
    with pytest.raises(RuntimeError, match="HIP error: invalid device ordinal"):
        device()


def test_an_image_without_collectives_is_told_from_one_without_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    with pytest.raises(OSError, match=r"the image has no libnccl\.so\.2 and no librccl\.so\.1"):
        gpu.collectives()
    with pytest.raises(OSError, match=r"libcudart\.so\.13: cannot open"):
        gpu.opened(gpu.VENDORS[0].runtime)
