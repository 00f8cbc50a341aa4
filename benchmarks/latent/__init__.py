"""Hidden states beside the others, in one command: ``python -m benchmarks.latent``.

- `cases`: simulated series of 4,000 rounds whose hidden states are known.
- `rivals`: who follows them; `changepoint`: one of them, written from its paper.
- `real`: series that people have measured.
- `speed`: how long it takes.

The rule
--------
Six cases are stationary and well specified; in five others something changes or is not as assumed;
two more are extreme. Seeds 0, 1 and 2 are to develop on. Seeds 100 to 104 are to judge on: run them
when all is settled, report them whatever they say, and choose nothing by them
(``python -m benchmarks.latent --judge``).

Everybody but `Regimes` is told the true number of states. States are judged after round 1,000 by
the share of rounds with the true one, names matched in hindsight, one to one.
"""

from benchmarks.latent.speed import rows

__all__ = ["rows"]
