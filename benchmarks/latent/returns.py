"""``python -m benchmarks.latent.returns``: how soon a regime that was seen before is recognised.

After round 1,000, every true switch counts: the delay is the number of rounds until the state is
the right one, names matched in hindsight, one to one. A switch that is not noticed before the next
one has an infinite delay. Beside ours: the filter with the true parameters, which nobody beats on
the average, and EM that is refitted. With ``--judge`` the seeds to judge on.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.latent import rivals
from benchmarks.latent.cases import HARDER, JUDGED, STATIONARY, Case
from benchmarks.latent.scores import matched
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._matching import Labels

DEVELOP, JUDGE = (0, 1, 2), (100, 101, 102, 103, 104)
FOLLOWERS = (rivals.true_filter, rivals.refitted, rivals.ours)


def delays(states: Labels, case: Case) -> Floats:
    """Return the delay of each switch after round 1,000."""
    found, truth = states[JUDGED:], case.truth[JUDGED:]
    right = matched(found, truth) == truth
    starts = np.flatnonzero(np.diff(truth)) + 1
    stops = np.r_[starts[1:], len(truth)]
    first = [np.flatnonzero(right[a:b])[:1] for a, b in zip(starts, stops, strict=True)]
    return np.array([float(places[0]) if len(places) else np.inf for places in first])


def lines(seeds: Sequence[int]) -> Iterator[str]:
    """Yield a line for each case: median delay, and the share of switches that are noticed."""
    yield f"median delay in rounds, and the share noticed; seeds {', '.join(map(str, seeds))}"
    yield f"{'':16s}" + "".join(f"{follow.__name__:>18s}" for follow in FOLLOWERS)
    for draw in (*STATIONARY, *HARDER):
        found: list[list[Floats]] = [[] for _ in FOLLOWERS]
        for seed in seeds:
            case = draw(np.random.default_rng([seed, 1]))
            for results, follow in zip(found, FOLLOWERS, strict=True):
                said = follow(case)
                if said is not None:
                    results.append(delays(said.states, case))
        cells = [np.concatenate(results) if results else np.empty(0) for results in found]
        yield f"{draw.__name__:16s}" + "".join(
            f"{np.median(cell):10.1f} {np.isfinite(cell).mean():7.0%}" if len(cell) else " " * 18
            for cell in cells
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latent.returns")
    parser.add_argument("--judge", action="store_true")
    for line in lines(JUDGE if parser.parse_args().judge else DEVELOP):
        print(line, flush=True)
