import subprocess
import sys

import normalhedge
from normalhedge import hedgers, latent, mixtures


def test_public_names_are_sorted_and_there() -> None:
    for module in (normalhedge, hedgers, latent, mixtures):
        assert list(module.__all__) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_importing_is_light() -> None:
    program = (
        "import sys, numpy; before = set(sys.modules); import normalhedge\n"
        "extra = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "heavy = extra & {'hypothesis', 'matplotlib', 'pandas', 'polars', 'pyarrow', 'scipy'}\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
