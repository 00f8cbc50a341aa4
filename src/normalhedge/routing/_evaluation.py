"""What another policy would have earned, from the log of the choices that were made."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from normalhedge.boundary import inputs
from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import clipped, counted
from normalhedge.routing._likelihood import likely_means
from normalhedge.routing._values import Record

Policy = str | Mapping[str, float] | Callable[[Record], str | Mapping[str, float]]

METHODS = ("dr", "ips", "snips")
INTERVALS = ("likelihood", "normal", "certain")


@dataclass(frozen=True)
class Value:
    """The estimated mean gain of a policy.

    Attributes
    ----------
    estimate
        The estimate.
    low, high
        An interval around it.
    level
        The confidence level of the interval.
    method
        ``"dr"``, ``"ips"`` or ``"snips"``.
    interval
        ``"likelihood"``, ``"normal"`` or ``"certain"``.
    rounds
        The number of rounds of the log.
    effective
        The effective number of rounds, ``(sum w)^2 / sum w^2`` of the importance weights w: if it
        is small, the policy chooses other actions than the log has, and the estimate is poor.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    interval: str
    rounds: int
    effective: float

    def __str__(self) -> str:
        """Return the estimate with its interval as a phrase."""
        return (
            f"{self.estimate:.4g} ({self.level:.0%} interval {self.low:.4g} to {self.high:.4g}, "
            f"{self.method}, {counted(self.rounds, 'round')}, {self.effective:,.0f} effective)"
        )


def evaluate(
    log: Iterable[Record | Mapping[str, Any]],
    policy: Policy,
    *,
    method: str = "dr",
    interval: str = "likelihood",
    level: float = 0.95,
    gains: tuple[float, float] = (0.0, 1.0),
) -> Value:
    r"""Estimate the mean gain that a policy would have had on a log.

    With the importance weights :math:`w_t = \pi_t(a_t) / p_t`, the gains :math:`g_t` of the chosen
    actions, and :math:`m_t(a)`, the mean gain of action a (in the same context) before round t:

    .. math::

        \text{ips: } \frac1T \sum_t w_t g_t, \qquad
        \text{snips: } \frac{\sum_t w_t g_t}{\sum_t w_t}, \qquad
        \text{dr: } \frac1T \sum_t \Big(\sum_a \pi_t(a)\, m_t(a) + w_t (g_t - m_t(a_t))\Big)

    Parameters
    ----------
    log
        The rounds in the order in which they were settled: `Router.history`, or mappings with the
        entries ``action``, ``probability`` and ``gain``, and perhaps ``context`` and ``awake``.
    policy
        An action, which is always chosen; a mapping of actions to probabilities; or a function of a
        `Record` that returns one of these. It must not use the action and the gain of the record.
    method
        ``"dr"`` (doubly robust), ``"ips"`` (inverse propensity) or ``"snips"`` (self-normalised).
    interval
        ``"likelihood"``: the empirical likelihood of the weighted gains, for any log; it follows
        the skewness of importance weights, and is extended to the estimate, as far as that is
        in the range of the gains.
        ``"normal"``: the estimate plus and minus normal quantiles of its standard error, for logs
        of a policy that does not learn, or explores all the time. For actions that a learning
        router has nearly given up it covers far too little (73 % in place of 95 %).
        ``"certain"``: a martingale argument that covers for any log whose probabilities are right;
        wider, and for ``"ips"`` only.
    level
        The confidence level of the interval.
    gains
        The least and the largest gain.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Notes
    -----
    The terms of ips and dr are unbiased given all earlier rounds. The certain interval rests on
    Ville's inequality for the wealth :math:`\prod_t (1 + \lambda_t (x_t - v))` with x = w g, which
    is a martingale if v is the mean; its upper end is one minus the lower end for 1 - g, as the
    mean of w is one.

    The likelihood interval has all v with
    :math:`R(v) - \min_u R(u) \le z^2 / 2`, z the normal quantile, and

    .. math::

        R(v) = \sup_{\gamma, \tau} \sum_t \ln(1 + \gamma (w_t - 1) + \tau (w_t g_t - v)),

    where the logarithms must exist for all weights up to the largest one of the log and for all
    gains in the range: so it is the empirical likelihood ratio of a mean of v, if the mean of w is
    one. It holds in the limit of many rounds; simulations are in ``docs/routing.md``.

    References
    ----------
    Dudik, Langford and Li, "Doubly robust policy evaluation and learning" (2011); Swaminathan and
    Joachims, "The self-normalized estimator for counterfactual learning" (2015); Karampatziakis,
    Mineiro and Ramdas, "Off-policy confidence sequences" (2021); Karampatziakis, Langford and
    Mineiro, "Empirical likelihood for contextual bandits" (2020).

    Examples
    --------
    >>> from normalhedge import Router
    >>> router = Router(["a", "b"], rule="exp3-ix")
    >>> for t in range(400):
    ...     choice = router.choose()
    ...     router.reward(choice.ticket, 0.8 if choice.action == "b" else 0.4)
    >>> round(evaluate(router.history, "a").estimate, 2)
    0.4
    """
    records = [_read(row) for row in log]
    if not records:
        raise ValueError("log must have at least one round")
    for name, value, known in (("method", method, METHODS), ("interval", interval, INTERVALS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    if interval == "certain" and method != "ips":
        raise ValueError("a certain interval needs method='ips'")
    inputs.number("level", level, 0.0, 1.0)
    low, high = gains
    plays = [_play(policy, record) for record in records]
    weights = np.array(
        [p.get(r.action, 0.0) / r.probability for p, r in zip(plays, records, strict=True)]
    )
    earned = np.array([record.gain for record in records])
    if not ((earned >= low) & (earned <= high)).all():
        raise ValueError(f"gains must be in [{low:g}, {high:g}], as the argument gains says")
    direct, expected = (
        _models(records, plays) if method == "dr" else (np.zeros(len(records)), np.zeros(1))
    )
    total = float(weights.sum())
    if method == "snips":
        estimate = float(weights @ earned / total) if total > 0.0 else math.nan
        terms = len(records) * weights * (earned - estimate) / (total or 1.0) + estimate
    else:
        terms = direct + weights * (earned - expected)
        estimate = float(terms.mean())
    square = float(weights @ weights)
    unit = (earned - low) / (high - low)
    quantile = NormalDist().inv_cdf(0.5 + 0.5 * level)
    if interval == "likelihood":
        ends = likely_means(weights, unit, 0.5 * quantile**2)
        bottom, top = (low + (high - low) * end for end in ends)
        inside = min(max(estimate, low), high) if math.isfinite(estimate) else bottom
        bottom, top = min(bottom, inside), max(top, inside)
    elif interval == "certain":
        share = 1.0 - (1.0 - level) / 2.0
        bottom = low + (high - low) * _lower(weights * unit, share)
        top = high - (high - low) * _lower(weights * (1.0 - unit), share)
    else:
        error = float(terms.std(ddof=1)) / math.sqrt(len(terms)) if len(terms) > 1 else math.inf
        reach = quantile * error
        bottom, top = estimate - reach, estimate + reach
    effective = total**2 / square if square > 0.0 else 0.0
    return Value(estimate, bottom, top, level, method, interval, len(records), effective)


def _read(row: Record | Mapping[str, Any]) -> Record:
    """Return a line of a log, checked."""
    if not isinstance(row, Record):
        if not isinstance(row, Mapping):
            raise TypeError(f"log must have records or mappings, got {clipped(repr(row), 80)}")
        missing = {"action", "probability", "gain"} - set(row)
        if missing:
            raise ValueError(f"each round of log must have {sorted(missing)[0]}")
        known = {name: row[name] for name in Record._fields if name in row}
        row = Record(**known)
    probability = inputs.number("the probability of a round", row.probability, 0.0, 1.0 + 1e-9)
    gain = inputs.number("the gain of a round", row.gain, -inputs.LARGEST)
    return row._replace(probability=probability, gain=gain)


def _play(policy: Policy, record: Record) -> Mapping[str, float]:
    """Return the probabilities of a policy in a round."""
    play = policy(record) if callable(policy) else policy
    if isinstance(play, str):
        return {play: 1.0}
    if not isinstance(play, Mapping):
        raise TypeError(f"policy must be an action or probabilities, got {clipped(repr(play), 80)}")
    total = math.fsum(play.values())
    if not (all(p >= 0.0 for p in play.values()) and abs(total - 1.0) < 1e-6):
        raise ValueError(f"the probabilities of policy must sum to one, got {total:g}")
    return play


def _models(
    records: Sequence[Record], plays: Sequence[Mapping[str, float]]
) -> tuple[Floats, Floats]:
    """Return the modelled gain of the policy, and of the chosen action, in each round."""
    sums: dict[tuple[str | None, str], tuple[float, int]] = {}
    everything, count = 0.0, 0
    direct, expected = np.empty(len(records)), np.empty(len(records))
    for t, (record, play) in enumerate(zip(records, plays, strict=True)):
        common = everything / count if count else 0.0

        def mean(action: str, record: Record = record, common: float = common) -> float:
            total, seen = sums.get((record.context, action), (0.0, 0))
            return (total + common) / (seen + 1)

        direct[t] = sum(p * mean(action) for action, p in play.items() if p > 0.0)
        expected[t] = mean(record.action)
        total, seen = sums.get((record.context, record.action), (0.0, 0))
        sums[record.context, record.action] = total + record.gain, seen + 1
        everything, count = everything + record.gain, count + 1
    return direct, expected


def _lower(terms: Floats, level: float) -> float:
    """Return a lower limit of the mean of terms >= 0 whose mean is at most one.

    The bets are half the best ones for the variance so far, and at most 1/2, so that no factor is
    below 1/2.
    """
    n = len(terms)
    target = math.log(1.0 / (1.0 - level))
    counts = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(terms)) / (counts + 1)
    variances = (0.25 + np.cumsum((terms - means) ** 2)) / (counts + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    bets = np.minimum(np.sqrt(2.0 * target / (before * n)), 0.5)
    low, high = 0.0, 1.0
    if np.log1p(bets * terms).sum() <= target:
        return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        wealth = float(np.log1p(bets * (terms - middle)).sum())
        low, high = (middle, high) if wealth > target else (low, middle)
    return low
