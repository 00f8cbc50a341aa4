"""Hidden states beside the others, in one command: ``python -m benchmarks.latent``.

- `cases`: simulated series of 4,000 rounds whose hidden states are known.
- `rivals`: who follows them; `changepoint`: one of them, written from its paper.
- `real`: series that people have measured.
- `returns`: how soon a regime that was seen before is recognised.
- `speed`: how long it takes.

The rule
--------
Six cases are stationary and well specified; in five others something changes or is not as assumed;
two more are extreme. Seeds 0, 1 and 2 are to develop on. Seeds 100 to 104 are to judge on: run them
when all is settled, report them whatever they say, and choose nothing by them
(``python -m benchmarks.latent --judge``).

Everybody but `Regimes` is told the true number of states. States are judged after round 1,000 by
the share of rounds with the true one, names matched in hindsight, one to one.

Found
-----
Judged once, on seeds 100 to 104. Points of agreement and percent of the log score against the
filter with the true parameters:

==============  =====  =======
volatility       -0.7   -0.2 %
means            +0.0   -0.2 %
both             +0.0   -0.3 %
three_states     -0.3   -0.3 %
counts           -0.1   -0.1 %
two_columns      -0.4   -0.2 %
==============  =====  =======

and against the best of EM on the first 500 and 1,000 rounds, refitted EM and forgetting Bayes:

==============  =====  =======
drift            +4.5   +8.7 %
student          +5.0   +5.3 %
outliers         +2.5   +4.6 %
late_state       +8.9   +1.6 %
changing_stays   +1.2   +2.5 %
==============  =====  =======

In the two extreme cases, where states drift further than they lie apart, the observations are
predicted well, but the names of states are lost in some series.
"""

from benchmarks.latent.speed import rows

__all__ = ["rows"]
