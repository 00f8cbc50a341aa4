"""Before anything is imported: compiled kernels are cached by the source they come from.

numba notices a change in the file of a kernel, not in the files of the kernels it calls.
"""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]

if "NUMBA_CACHE_DIR" not in os.environ:
    source = b"".join(path.read_bytes() for path in sorted((ROOT / "src").rglob("*.py")))
    key = hashlib.sha256(source).hexdigest()[:12]
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / "numba" / key)

from hypothesis import settings  # noqa: E402 -- after the cache is chosen

settings.register_profile("normalhedge", deadline=None)  # the first example compiles
settings.load_profile("normalhedge")
