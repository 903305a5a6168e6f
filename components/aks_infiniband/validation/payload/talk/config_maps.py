"""The texts in the keys of a ConfigMap: plain text, or text that is compressed, as its key says."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

CONFIG_MAP_BYTES = 1 << 20
"""The limit for all values of a ConfigMap together (Kubernetes, "ConfigMaps")."""
COMPRESSED = ".gz"
"""Ends a key of a ConfigMap whose text is compressed; it lies in binaryData."""
_MOST_UNPACKED = 256 << 20
"""The validation writes nothing as large as this, so a text that would be larger is not unpacked."""


def object_in(text: str | None) -> Any:
    """The JSON object in a text; None if there is none."""
    try:
        document = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def texts_of(config_map: Mapping[str, Any]) -> dict[str, str]:
    """The texts in the keys of a ConfigMap, decompressed, without any that cannot be read."""
    texts = dict(config_map.get("data") or {})
    unpacked = {key: decompressed(value) for key, value in (config_map.get("binaryData") or {}).items()}
    return {**texts, **{key: text for key, text in unpacked.items() if text is not None}}


def compressed(text: str) -> str:
    """A text by gzip, in base64."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def decompressed(value: str) -> str | None:
    """The text that `compressed` made; None if the value is something else."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # gzip's form
    try:
        text = unpacking.decompress(base64.b64decode(value), _MOST_UNPACKED).decode()
    except (ValueError, zlib.error):
        return None
    return text if unpacking.eof else None


def packed(texts: Mapping[str, str | None]) -> dict[str, dict[str, str | None]]:
    """The data and binaryData of a ConfigMap with these texts. A text is compressed if its key says so; None stays
    None.
    """
    to_compress = {key: text for key, text in texts.items() if key.endswith(COMPRESSED)}
    binary = {key: None if text is None else compressed(text) for key, text in to_compress.items()}
    return {"data": {key: text for key, text in texts.items() if key not in binary}, "binaryData": binary}


def size_of(config_map: Mapping[str, Any]) -> int:
    """The bytes of a ConfigMap's values, as the API server counts them."""
    plain = sum(len(text.encode()) for text in (config_map.get("data") or {}).values())
    return plain + sum(len(base64.b64decode(text)) for text in (config_map.get("binaryData") or {}).values())
