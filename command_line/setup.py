"""The version is the library's, which stands in components/pyproject.toml alone, and the library of it is required."""

import tomllib
from pathlib import Path

from setuptools import setup

_LIBRARY = Path(__file__).resolve().parents[1] / "components" / "pyproject.toml"
_VERSION = tomllib.loads(_LIBRARY.read_text(encoding="utf-8"))["project"]["version"]

setup(
    version=_VERSION,
    install_requires=[
        f"aks-infiniband=={_VERSION}",
        "httpx2>=2,<3",
        "lightkube>=1.0,<2",
        "pulumi>=3.259,<4",
        "pydantic>=2.12,<3",
        "pyyaml>=6,<7",
        "rich>=14,<16",
    ],
)
