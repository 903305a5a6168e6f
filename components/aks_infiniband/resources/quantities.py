"""Kubernetes quantities, such as 8, 1k, 10Mi and 4Gi: the amount of a resource, or of a request."""

import re
from decimal import Decimal
from typing import Any, Final

_QUANTITY: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?")
"""The grammar of apimachinery, pkg/api/resource/quantity.go (Kubernetes 1.36)."""
_BINARY: Final = {f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def quantity(text: Any) -> Decimal:
    """The amount of a quantity, in the resource's own unit; 0 for text that the API server would not have taken."""
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None:
        return Decimal(0)
    number, binary, decimal, exponent = match.groups()
    factor = _BINARY[binary] if binary else Decimal(1).scaleb(int(exponent) if exponent else _DECIMAL.get(decimal, 0))
    return Decimal(number) * factor


def shown(amount: Decimal) -> str:
    """An amount as a person writes it: 1000 and not 1E+3."""
    return f"{amount.normalize():f}"
