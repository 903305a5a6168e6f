"""Tensors of one dimension that are as long as they say and hold their first numbers only.

A message of 16 GiB fits no test machine, and a sum that is wrong is wrong in its first numbers too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

KEPT = 64
"""How many leading numbers a tensor holds."""

Number = int | float

float32, float64 = "float32", "float64"


@dataclass(frozen=True)
class device:  # noqa: N801 PyTorch's name
    """Where a tensor is."""

    type: str
    index: int = 0


class Tensor:
    """A one-dimensional tensor; a slice of it shares its numbers."""

    def __init__(self, count: int, numbers: list[Number], start: int = 0) -> None:
        """``numbers`` belongs to the whole tensor; this one begins at ``start`` of it."""
        self._count, self._numbers, self._start = count, numbers, start

    @property
    def kept(self) -> list[Number]:
        """The leading numbers, as far as they are held."""
        return self._numbers[self._start : self._start + self._count]

    @kept.setter
    def kept(self, values: Sequence[Number]) -> None:
        held = len(self.kept)
        self._numbers[self._start : self._start + held] = values[:held]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, part: slice) -> "Tensor":
        start, stop, _ = part.indices(self._count)
        return Tensor(max(0, stop - start), self._numbers, self._start + start)

    def copy_(self, other: "Tensor") -> "Tensor":
        """Take over another's numbers."""
        self.kept = other.kept
        return self

    def __mod__(self, number: Number) -> "Tensor":
        return self._mapped(lambda value: value % number)

    def __add__(self, number: Number) -> "Tensor":
        return self._mapped(lambda value: value + number)

    def __mul__(self, number: Number) -> "Tensor":
        return self._mapped(lambda value: value * number)

    def __ne__(self, other: object) -> "Tensor":  # type: ignore[override]  # PyTorch's, number by number
        theirs = other.kept if isinstance(other, Tensor) else [other] * len(self.kept)
        return Tensor(self._count, [int(mine != value) for mine, value in zip(self.kept, theirs, strict=False)])

    __hash__ = None  # type: ignore[assignment]  # comparing gives a tensor

    def sum(self) -> "Tensor":
        """The sum of the elements."""
        return Tensor(1, [sum(self.kept)])

    def item(self) -> Number:
        """The only number."""
        return self.kept[0]

    def tolist(self) -> list[Number]:
        """The numbers."""
        return self.kept

    def element_size(self) -> int:
        """Bytes of one number; float32's, which is what messages are made of here."""
        return 4

    def _mapped(self, change: Callable[[Number], Number]) -> "Tensor":
        return Tensor(self._count, [change(value) for value in self.kept])


def empty(count: int, *, dtype: str = float32, device: object = None) -> Tensor:
    """Room for numbers, with something else in it."""
    return Tensor(count, [float("nan")] * min(count, KEPT))


def zeros(count: int, *, device: object = None) -> Tensor:
    """As many zeros."""
    return Tensor(count, [0.0] * min(count, KEPT))


def arange(start: int, end: int, *, device: object = None) -> Tensor:
    """The whole numbers from start up to, not including, end."""
    return Tensor(end - start, list(range(start, min(end, start + KEPT))))


def tensor(numbers: Sequence[Number], *, dtype: str = float32, device: object = None) -> Tensor:
    """A tensor that holds all of these numbers."""
    return Tensor(len(numbers), list(numbers))
