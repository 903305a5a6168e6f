"""A stand-in for PyTorch on simulated machines: as much of it as all-reduce benchmarks use, with the real names.

The processes of a job really meet and really add: the first numbers of every tensor travel over loopback and are
summed. Time is simulated: an all-reduce takes what the simulated machines' fabric gives (simulation.py), and only
events tell it.
"""

import sys
from pathlib import Path

# A container's Python knows the folder of this package alone; the machine's tools are beside it.
sys.path.append(str(Path(__file__).resolve().parents[4]))

from . import cuda, distributed
from .tensors import Tensor, arange, device, empty, float32, float64, tensor, zeros

__version__ = "2.10.0+simulated"

__all__ = [
    "Tensor",
    "arange",
    "cuda",
    "device",
    "distributed",
    "empty",
    "float32",
    "float64",
    "tensor",
    "zeros",
]
