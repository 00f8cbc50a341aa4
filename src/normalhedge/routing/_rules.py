"""The rules of a router: how estimated gains become probabilities.

A rule is a frozen configuration. Its ``recipes`` tell the core what to do; the equations stand in
the headers of ``src/core/routing``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from normalhedge.boundary import inputs, specs
from normalhedge.guarantees import Bound
from normalhedge.hedgers import (
    HEDGERS,
    CompiledHedger,
    DecreasingHedge,
    NormalHedge,
    named,
)

MEMORY = 1000.0
"""The memory, in rounds, of a hedger that is given by its name alone."""

LATE = "no theorem covers gains that come late"
CHANGING = "no theorem covers actions that sleep, join or leave"
BESIDE = "no theorem covers contexts or a budget"


class RoundsPlayed(NamedTuple):
    """What bounds depend on."""

    rounds: int  # that are settled
    actions: int
    full: bool  # whether all gains of all rounds were known
    late: bool  # whether some gains came after a later choice
    changed: bool  # whether actions slept, joined or left
    beside: bool  # whether there are contexts or a budget
    price: float  # of the default, see `OverRules`
    width: float  # of the range of the gains

    def covered(self, bound: Bound, *, fixed: bool = True) -> Bound:
        """Return the bound; or that no theorem applies, and why.

        Parameters
        ----------
        bound
            The bound for gains that are known at once, without contexts and budgets.
        fixed
            Whether the actions must always be the same.
        """
        if self.late:
            return Bound(math.inf, LATE)
        if self.beside:
            return Bound(math.inf, BESIDE)
        return Bound(math.inf, CHANGING) if fixed and self.changed else bound


class Rule:
    """A rule of a router; see the subclasses."""

    prior: tuple[float, ...] = (1.0,)
    """The weight of each rule before the first round."""

    reason: ClassVar[str] = ""
    """Why there is no bound, if there is none."""

    @property
    def recipes(self) -> tuple[tuple[Any, ...], ...]:
        """The recipe of each rule, for the core."""
        return (self._recipe(),)

    def bound(self, played: RoundsPlayed) -> Bound:
        """Return the bound on the expected regret; infinite, with the reason, where none is known.

        Parameters
        ----------
        played
            The facts on which the bound depends.
        """
        return self._bound(played)

    def _recipe(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _bound(self, played: RoundsPlayed) -> Bound:
        del played
        return Bound(math.inf, self.reason)


@dataclass(frozen=True)
class Exp3IX(Rule):
    r"""Exponential weights with implicit exploration.

    .. math::

        p_i \propto \exp(-\eta \hat L_i), \qquad
        \hat \ell_i = \frac{1[i \text{ seen}]\, \ell_i}{o_i + \gamma}, \qquad
        \eta = \sqrt{\frac{\ln K}{\sum_t (Q_t + 2 d_t)}}, \quad \gamma = \eta / 2

    for losses in [0, 1]. o_i is the probability that the gain of i would be seen,
    :math:`Q_t = \sum_i p_i / o_i`, which is K if only the gain of the chosen action is seen, and
    d_t is the number of rounds that wait for their gains. With all gains seen it is
    `normalhedge.DecreasingHedge`, to the bit.

    Notes
    -----
    If gains are known at once, the expected regret to every action is at most

    .. math:: 3 \sqrt{\ln K \sum_t Q_t} + 2 K \sqrt{\ln K}

    for any gains that do not depend on the draws (``docs/routing.md`` has the proof).

    References
    ----------
    Kocák, Neu, Valko and Munos, "Efficient learning by implicit exploration in bandit problems with
    side observations" (2014); Neu, "Explore no more" (2015).
    """

    def _recipe(self) -> tuple[Any, ...]:
        return ("hedger", DecreasingHedge()._engine, True)

    def _bound(self, played: RoundsPlayed) -> Bound:
        if played.full:
            return _of_hedger(DecreasingHedge(), played)
        count = max(played.actions, 2)
        regret = 3.0 * math.sqrt(math.log(count) * count * played.rounds)
        regret += 2.0 * count * math.sqrt(math.log(count))
        bound = Bound(played.width * regret, "EXP3-IX, in expectation", unit="in gains")
        return played.covered(bound)


@dataclass(frozen=True)
class TsallisINF(Rule):
    r"""Tsallis-INF: optimal up to a constant for adversarial and for stochastic gains.

    .. math::

        p_i = \frac{4}{\eta^2 (\hat L_i - x)^2}, \qquad \eta = 4 / \sqrt{t}, \qquad
        \hat \ell_i = \frac{1[i \text{ seen}] (\ell_i - b_i)}{o_i} + b_i, \quad
        b_i = \tfrac12 1[p_i \ge \eta^2]

    with x so that the probabilities sum to one. The clock t advances by 1, and by 2 for each round
    that waits for its gains.

    Notes
    -----
    The paper bounds the expected regret by ``O(sqrt(K T))`` for any gains, and by
    ``O(sum_i ln T / gap_i)`` for gains with a best action. The statement without constants is all
    that `bound` repeats.

    References
    ----------
    Zimmert and Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits"
    (2021), with the estimator of reduced variance; Zimmert and Seldin, "An optimal algorithm for
    adversarial bandits with arbitrary delays" (2020), for the clock.
    """

    reason: ClassVar[str] = "expected regret of the order sqrt(K T) (Zimmert and Seldin, 2021)"

    def _recipe(self) -> tuple[Any, ...]:
        return ("tsallis",)


@dataclass(frozen=True)
class Maillard(Rule):
    r"""Maillard sampling: a worse action is tried as often as its divergence from the best allows.

    .. math::

        p_i \propto \exp(-k N_i\, \mathrm{kl}(m_i, \max_j m_j)), \qquad
        m_i \leftarrow m_i + \frac{g_i - m_i}{N_i + 2}, \quad N_i \leftarrow N_i + 1

    N is a discounted count of the gains seen, m their mean in [0, 1], and kl the divergence of
    Bernoulli. No gain is divided by a probability: the rule trusts that an action has one mean for
    as long as it remembers.

    Parameters
    ----------
    keenness
        k, > 0: a larger one explores less. With a memory, it is at least ``300 K / memory``.
    memory
        How many rounds the rule remembers; None: all.

    References
    ----------
    Qin, Jun and Zhang, "Kullback-Leibler Maillard sampling for multi-armed bandits with bounded
    rewards" (2023), for k = 1 and no memory: asymptotically optimal for stochastic gains. Nothing
    is proved for other settings, nor for adversarial gains.
    """

    keenness: float = 1.0
    memory: float | None = None

    reason: ClassVar[str] = "Maillard sampling has no bound that holds for every gain"

    def __post_init__(self) -> None:
        inputs.number("keenness", self.keenness, 0.0)
        if self.memory is not None:
            inputs.number("memory", self.memory, 1.0)

    def _recipe(self) -> tuple[Any, ...]:
        keep = 1.0 if self.memory is None else 1.0 - 1.0 / self.memory
        return ("maillard", keep, float(self.keenness))


@dataclass(frozen=True)
class Restarts(Rule):
    r"""Minimum empirical divergence that starts again where the gains have changed.

    .. math::

        p_i \propto \exp\Big(-k \Big[\frac{N_i\, \mathrm{kl}(m_i, \max_j m_j)}{\varphi}
        - \frac15 \ln^+ \frac{n}{K (1 + N_i)}\Big]_+\Big)

    N and m are the counts and the means of the gains in the n rounds of the present segment, and
    :math:`\varphi \le 1` is the ratio of the variance of the gains to the one of zeros and ones.
    Beside the present start of the segment there are some other ones s, two for each octave of
    age. They are judged by how well their means :math:`m_s` predict the gains:

    .. math::

        E_s \leftarrow E_s + \frac1\varphi \Big(g \ln \frac{m_{s,i}}{m_i}
        + (1 - g) \ln \frac{1 - m_{s,i}}{1 - m_i}\Big)

    The segment begins at s once :math:`E_s > h = 3 + \ln \frac{t + 10}{1 + \text{restarts}}`.

    Parameters
    ----------
    keenness
        k, > 0: a larger one explores less; 0: :math:`\max(3, 1.7 \sqrt K)`.
    fade
        f, from 0 to 1: counts fade with :math:`1 - f / (t + 50)`, so that actions which seemed
        worse are tried again. Without it, an action that gets better while others are chosen is
        found late, or never.

    Notes
    -----
    Let gains be zeros and ones with the means that the present segment predicts, and
    :math:`\varphi = 1`. Then :math:`\exp E_s` is a martingale, and the probability that s is ever
    taken in error, at a threshold of at least h, is at most :math:`e^{-h}` (Ville). No bound holds
    for every gain.

    References
    ----------
    Honda and Takemura, "An asymptotically optimal policy for finite support models" (2011), for
    minimum empirical divergence; Audibert and Bubeck, "Minimax policies for adversarial and
    stochastic bandits" (2009), for the logarithm; Besson, Kaufmann, Maillard and Seznec,
    "Efficient change-point detection for tackling piecewise-stationary bandits" (2022), for bandits
    that restart.
    """

    keenness: float = 0.0
    fade: float = 0.0

    reason: ClassVar[str] = "a rule with restarts has no bound that holds for every gain"

    def __post_init__(self) -> None:
        inputs.number("keenness", self.keenness, 0.0, closed=True)
        inputs.number("fade", self.fade, 0.0, 1.0, closed=True)

    def _recipe(self) -> tuple[Any, ...]:
        return ("restarts", float(self.keenness), float(self.fade))


@dataclass(frozen=True)
class OnEstimates(Rule):
    r"""A hedger on optimistic estimates of the gains.

    .. math::

        \hat g_i = \frac{1}{\sqrt Q} \left(1 - \frac{2 \cdot 1[i \text{ seen}]\, \ell_i}
                   {o_i + \gamma}\right), \qquad
        \gamma = \sqrt{\frac{\ln K}{2 K \min(t, \text{memory})}}

    for gains g in [-1, 1] and losses (1 - g) / 2. The estimates are as variable as gains are, so
    that the hedger keeps its rate. With all gains seen, it gets the gains: the probabilities are
    those of the hedger, to the bit.

    Parameters
    ----------
    hedger
        A hedger of this package, such as `normalhedge.NormalHedge`, `normalhedge.AdaNormalHedge`
        or `normalhedge.FixedShare`.

    Notes
    -----
    With all gains seen the bound of the hedger holds in expectation. With fewer, no theorem is
    known for NormalHedge and its relatives.
    """

    hedger: CompiledHedger

    def __post_init__(self) -> None:
        if not isinstance(self.hedger, CompiledHedger):
            raise TypeError(f"hedger must be a hedger of this package, got {self.hedger!r}")
        if self.hedger.has_initial_ledger or bool(getattr(self.hedger, "delay", False)):
            raise ValueError(
                f"{self.hedger!r} cannot weigh actions: it must begin with zeros, without a delay"
            )

    def _recipe(self) -> tuple[Any, ...]:
        return ("hedger", self.hedger._engine, False)

    def _bound(self, played: RoundsPlayed) -> Bound:
        if not played.full:
            return Bound(math.inf, "no theorem covers this hedger on estimated gains")
        return _of_hedger(self.hedger, played)


def _of_hedger(hedger: CompiledHedger, played: RoundsPlayed) -> Bound:
    """Return the bound of a hedger that saw all gains, in the unit of the gains."""
    bound = hedger.bound(max(played.actions, 1), max(played.rounds, 1))
    discount = f", discounted at {hedger.alpha:g} a round" if hedger.alpha else ""
    source = f"{bound.source}, in expectation"
    regret = 0.5 * played.width * bound.regret
    return played.covered(Bound(regret, source, unit=f"in gains{discount}"))


@dataclass(frozen=True)
class OverRules(Rule):
    r"""The default: trusts `Restarts`, until another rule is better beyond chance.

    .. math::

        p = \sum_b w_b p_b, \qquad w_1 = 1 - \varepsilon_t, \qquad
        \varepsilon_t = \min\Big\{\frac14, \frac{1}{10 \sqrt{t + 10}}\Big\}, \qquad
        \hat y_b = \sum_i p_{b,i} 1[i \text{ seen}] (\ell_i - m) / o_i

    The other rules are Tsallis-INF and, for rounds in which all gains are seen, NormalHedge with a
    memory of 100 rounds. They share :math:`\varepsilon_t` as 4 : 1. With
    :math:`X = \hat y_1 - \hat y_b`, :math:`W = \sum (X^2 + 2 \overline{X^2}) / 3` and B rules,
    there is an alarm as soon as

    .. math::

        \sum X > \sqrt{(W + 25) \Big(\ln \frac{W + 25}{25} + 2 \ln (100 B)\Big)}.

    After it, the weights start evenly and learn:

    .. math:: w_b \leftarrow (1 - s_t) \frac{w_b e^{-\eta \hat y_b}}{Z} + s_t \pi_b

    with :math:`s_t = 1/(t + 10)` and a rate that falls with the variance of the estimates.

    Parameters
    ----------
    priced
        Whether there is a budget. Its price changes the gains in every round, so the trusted rule
        is `Maillard` then.

    Notes
    -----
    If `Restarts` is never worse than the others, given the past, the probability of an alarm is at
    most 1/100. In any case the expected regret to each rule, as it would have played on what the
    mixture saw, is at most the expected price, which `Router.bound` returns: it is measured
    (``docs/routing.md``). What a rule would have earned had it seen only its own choices is not
    covered.
    """

    priced: bool = False

    @property
    def parts(self) -> tuple[tuple[Rule, float], ...]:
        """The rules, the trusted one first, and their weights after an alarm, up to a factor."""
        trusted = Maillard() if self.priced else Restarts()
        return (trusted, 4.0), (TsallisINF(), 4.0), (OnEstimates(NormalHedge(memory=100)), 1.0)

    @property
    def recipes(self) -> tuple[tuple[Any, ...], ...]:
        """The recipe of each rule, for the core."""
        return tuple(recipe for rule, _ in self.parts for recipe in rule.recipes)

    @property
    def prior(self) -> tuple[float, ...]:  # type: ignore[override]
        """The weight of each rule before the first round."""
        total = sum(share for _, share in self.parts)
        return tuple(share / total for _, share in self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The rules, as `rule_named` reads them."""
        return tuple(_spell(rule) for rule, _ in self.parts)

    def _bound(self, played: RoundsPlayed) -> Bound:
        if played.late:
            return Bound(math.inf, LATE)
        price = played.width * played.price
        source = "price of hedging over rules, in expectation"
        unit = "in gains to each rule on what was seen"
        return played.covered(Bound(price, source, unit=unit, measured=price), fixed=False)


def _spell(rule: Rule) -> str:
    if isinstance(rule, OnEstimates):
        return f"normal-hedge:memory={1.0 / rule.hedger.alpha:g}"
    return next(name for name, kind in RULES.items() if type(rule) is kind)


RULES: dict[str, Callable[..., Rule]] = {
    "auto": OverRules,
    "exp3-ix": Exp3IX,
    "maillard": Maillard,
    "restarts": Restarts,
    "tsallis-inf": TsallisINF,
}
"""The rules that are no hedgers, by name."""


def rule_named(text: str, actions: int = 2) -> Rule:
    """Return the rule that ``name:key=value,...`` describes.

    Parameters
    ----------
    text
        ``"auto"``, ``"exp3-ix"``, ``"tsallis-inf"``, ``"maillard:keenness=6,memory=300"``,
        ``"restarts:fade=0.3"``, or a hedger of `normalhedge.hedgers.HEDGERS`, such as
        ``"normal-hedge:memory=500"``.
    actions
        The number of actions, from which some hedgers take their rate.

    Examples
    --------
    >>> rule_named("maillard:memory=300")
    Maillard(keenness=1.0, memory=300)
    >>> rule_named("normal-hedge:memory=500")
    OnEstimates(hedger=NormalHedge(alpha=0.002, c=1.0))
    """
    name = text.partition(":")[0]
    if name in RULES:
        return specs.make("rule", text, RULES)
    if name not in HEDGERS:
        raise specs.nearest("rule", name, [*RULES, *HEDGERS])
    return OnEstimates(named(text, max(actions, 2), alpha=1.0 / MEMORY))
