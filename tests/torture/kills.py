"""Kill -9 of the real command: no line that was answered is lost, no ticket is given out twice."""

import signal

import numpy as np

from tests.torture.result import Result
from tests.torture.signals import tried


def run(quick: bool, rng: np.random.Generator) -> Result:
    """Kill 1,000 streams."""
    return tried("kills", 8 if quick else 1000, rng, [signal.SIGKILL])
