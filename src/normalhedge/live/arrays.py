"""Arrays as text: doubles and whole numbers of 8 bytes, little-endian, compressed, in base 64.

A state consists of zeros and of numbers without a pattern. Compression removes the zeros, and
base 64 is half as long as decimal digits.
"""

import base64
import math
import zlib

import numpy as np

from normalhedge.boundary.inputs import Floats

LEVEL = 1
"""Of compression: higher levels take three times as long for files that are 3 % smaller."""


def write_array(array: np.ndarray) -> str:
    """Return an array as text, without its shape."""
    kind = "<i8" if array.dtype.kind in "iu" else "<f8"
    data = np.ascontiguousarray(array, dtype=kind).tobytes()
    return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")


def read_array(name: str, text: str, shape: tuple[int, ...], *, whole: bool = False) -> Floats:
    """Return the array that `write_array` wrote; refuse another number of numbers."""
    size = 8 * math.prod(shape)
    decompressor = zlib.decompressobj()
    try:
        data = decompressor.decompress(base64.b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error):
        raise ValueError(f"{name} is not an array of a file") from None
    if len(data) != size:
        raise ValueError(f"{name} must have shape {shape}")
    array = np.frombuffer(data, dtype="<i8" if whole else "<f8").reshape(shape)
    return array.astype(np.int64 if whole else np.float64)
