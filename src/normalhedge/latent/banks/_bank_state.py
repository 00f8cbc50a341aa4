"""The state of a bank, and many rounds of it."""

from typing import NamedTuple

from normalhedge.boundary.inputs import Floats


class BankState(NamedTuple):
    """The filters of all candidates before the next observation.

    Attributes
    ----------
    beliefs
        ``P_n(S_{t+1} = s | x_1..x_t)``, states x candidates; none exceeds one.
    log_likelihood
        ``ln P_n(x_1..x_t)`` of each candidate; an impossible observation counts as 1e-280.
    rounds
        The number of rounds so far, including rounds with a missing observation.
    impossible
        The number of observations that every candidate found impossible; they count as missing.
    """

    beliefs: Floats
    log_likelihood: Floats
    rounds: int
    impossible: int


class BankRun(NamedTuple):
    """Many rounds of a bank.

    Attributes
    ----------
    state
        The state after the last round.
    beliefs
        The beliefs before each observation, T x k x N; see `BankState`.
    log_likelihood
        The log-likelihoods before each observation, T x N.
    scores
        The score of each observation in each state, T x k x N, see `HMMBank.bounded`; NaN where the
        observation is missing.
    """

    state: BankState
    beliefs: Floats
    log_likelihood: Floats
    scores: Floats
