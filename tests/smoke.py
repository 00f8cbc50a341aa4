"""A try of an installed wheel, with nothing but NumPy: run as a script."""

import pickle
import sys
from pathlib import Path

import numpy as np

import normalhedge
from normalhedge.hedgers import HEDGERS, named


def main() -> None:
    """Play every hedger, and mix a few forecasts."""
    assert Path(normalhedge.__file__).is_relative_to(sys.prefix), normalhedge.__file__
    gains = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 7))
    for name in sorted(HEDGERS.keys() - {"hedge-fixed"}):
        hedger = named(name, 7, alpha=0.05)
        state = hedger.init(7)
        for row in gains:
            state = hedger.step(state, row, np.abs(row))
        run = hedger.run(gains, np.abs(gains))
        np.testing.assert_array_equal(run.state.weights, state.weights)
        assert abs(state.weights.sum() - 1.0) < 1e-9
    mixture = normalhedge.Mixture()
    for day in range(40):
        made = mixture.predict({"good": day + 0.1, "bad": day + 5.0, "late": None})
        mixture.update(made.ticket, float(day))
    again = pickle.loads(pickle.dumps(mixture))
    assert again.predict({"good": 1.0, "bad": 2.0}).value < 1.1
    assert {"Mixture", "NormalHedge", "blend"} <= set(dir(normalhedge))
    print(f"normalhedge {normalhedge.__version__} works")


if __name__ == "__main__":
    main()
