"""A sequence of symbols or numbers, predicted causally by many hidden Markov models at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from normalhedge._inputs import Floats
from normalhedge.hedgers import Hedger, NormalHedge
from normalhedge.latent.follow import Followed, follow
from normalhedge.latent.hmm_bank import HMMBank
from normalhedge.latent.learning_bank import LearningBank, can_learn
from normalhedge.latent.predictors import (
    BayesAverage,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
    block,
)
from normalhedge.latent.sequence import Sequence, encode

MEMORY = 100.0
"""In rounds, where no hedger is given."""

CANDIDATES, STATES = 200, 2

EVENNESS = 0.2
"""Of the emissions of the candidates: many are almost sure of a symbol, which L1 rewards."""

WARM_UP = 20
"""How many numbers tell where the others may lie; they are learned from, but not predicted."""

MAIN = "state experts"

BINS = 10


@dataclass(frozen=True, eq=False)
class Inferred:
    """What was said of a sequence, and what was inferred from it.

    Attributes
    ----------
    sequence
        The observations as numbers, and what these mean.
    went
        Every predictor's way, by name; `MAIN` is the one that is asked.
    start
        The first round that counts: before it, real numbers only tell their scale.
    next
        What is said of the observation after the last: a distribution over symbols, or a mean.
    next_states
        How probable each hidden state is then.
    states
        What each hidden state says: k x m, or mean and deviation, k x 2. They are those of the
        candidate with the largest likelihood, in order; the states of all others count as the one
        they are most like.
    impossible
        How many observations no candidate thought possible; they teach nothing.
    """

    sequence: Sequence
    went: dict[str, Followed]
    start: int
    next: Floats
    next_states: Floats
    states: Floats
    impossible: int

    @property
    def main(self) -> Followed:
        """What the hedger over states did."""
        return self.went[MAIN]

    def table(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return a head and a row for each predictor, the least loss first."""
        head = ["predictor", "mean L1 loss", "wrong" if self.sequence.labels else "mean error"]
        scored = {name: float(np.nanmean(f.losses)) for name, f in self.went.items()}
        rows: list[tuple[str, ...]] = [
            (name, f"{scored[name]:.4f}", self._second(self.went[name]))
            for name in sorted(scored, key=scored.__getitem__)
        ]
        return head, rows

    def _second(self, went: Followed) -> str:
        known = ~np.isnan(went.losses)
        if self.sequence.labels:
            return f"{went.wrong[known].mean():.2%}"
        return f"{np.nanmean(np.abs(went.said[known, 0] - self.sequence.numbers[known])):.4g}"

    def reliability(self) -> tuple[Floats, Floats, np.ndarray]:
        """Return, in tenths of the probability, its mean, the share that came, and how many.

        Of symbols only, and of two symbols the second.
        """
        labels, known = self.sequence.labels, ~np.isnan(self.main.losses)
        said = self.main.said[known]
        came = self.sequence.numbers[known][:, np.newaxis] == np.arange(len(labels))
        if len(labels) == 2:
            said, came = said[:, 1:], came[:, 1:]
        places = np.minimum((said * BINS).astype(int), BINS - 1).ravel()
        count = np.bincount(places, minlength=BINS)
        used = count > 0
        means = [
            np.bincount(places, values.ravel().astype(float), BINS)[used] / count[used]
            for values in (said, came)
        ]
        return means[0], means[1], count[used]

    def facts(self) -> list[tuple[str, str]]:
        """Return what else there is to know, in words."""
        numbers, labels = self.sequence.numbers, self.sequence.labels
        said = f"{self.next[0]:.6g}"
        if labels:
            named = zip(labels, self.next, strict=True)
            said = ", ".join(f"{label}: {p:.3f}" for label, p in named)
            said += " (weights under L1, bolder than probabilities)"
        states = ", ".join(f"state {k}: {p:.3f}" for k, p in enumerate(self.next_states))
        facts = [
            ("observations", f"{len(numbers):,}, {int(np.isnan(numbers).sum()):,} of them missing"),
            ("impossible under every candidate", self._impossible()),
            ("what comes next", said),
            ("the hidden state then", states),
        ]
        if self.start:
            facts.insert(1, ("only learned from", f"the first {self.start}, for their scale"))
        return facts

    def _impossible(self) -> str:
        text = f"{self.impossible:,}"
        if self.impossible:
            text += "; these teach nothing and cost a loss of 1"
        if not self.sequence.labels and self.impossible > 0.01 * len(self.sequence.numbers):
            text += (
                f". The numbers leave the scale of the first {WARM_UP}: predict their differences, "
                "or whether they are above something"
            )
        return text

    def columns(self) -> dict[str, Any]:
        """Return what was said, round by round, as columns of a table."""
        went, labels = self.main, self.sequence.labels
        columns: dict[str, Any] = {"observed": self.sequence.decoded()}
        if labels:
            said = np.array([labels[s] for s in went.said.argmax(axis=1)], dtype=object)
            columns["predicted"] = said.tolist()
            columns |= {f"p({label})": went.said[:, k] for k, label in enumerate(labels)}
        else:
            columns["predicted"] = _present(went.said[:, 0])
        columns["loss"] = _present(went.losses)
        columns["state"] = went.states
        for k in range(went.state_weights.shape[1]):
            columns[f"state {k}"] = went.state_weights[:, k]
        return columns


def infer(
    values: Iterable[Any],
    *,
    states: int = STATES,
    candidates: int = CANDIDATES,
    hedger: Hedger[Any] | None = None,
    kind: str | None = None,
    above: float | None = None,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Inferred:
    """Predict a sequence, each value from those before it, and infer its hidden states.

    The candidates are drawn at random. All predictors meet the same ones; they are asked before
    each observation and told it afterwards.

    Parameters
    ----------
    values
        Symbols of any kind, or real numbers; None, NaN or an empty string where missing.
    states, candidates
        How many hidden states each candidate has, and how many candidates there are.
    hedger
        Who weighs them; ``NormalHedge(memory=100)`` by default. With one of your own, whose experts
        cannot join and leave, there is no learning bank.
    kind
        "symbols" or "numbers"; none to see for itself, see `encode`.
    above
        Turns numbers into two symbols: whether they are above this.
    seed
        Of the draws.
    progress
        Told who predicts next.

    Notes
    -----
    Of the whole sequence, only which symbols there are is known in advance. The scale of real
    numbers is taken from the first 20 of them. What the states are called is decided in hindsight,
    by the candidate that turned out the likeliest: predictions are causal, names are not.

    Examples
    --------
    >>> found = infer(["wet", "wet", "dry", "dry", None, "dry", "dry"] * 20, candidates=50)
    >>> found.sequence.labels
    ('dry', 'wet')
    >>> found.next.shape, found.main.losses.shape
    ((2,), (140,))
    """
    sequence = encode(values, kind=kind, above=above)
    hedger = NormalHedge(memory=MEMORY) if hedger is None else hedger
    rng = np.random.default_rng(seed)
    start = 0
    if sequence.labels:
        bank = HMMBank.random(candidates, states, len(sequence.labels), rng, evenness=EVENNESS)
    else:
        start, middle, spread = _scale(sequence.numbers)
        bank = HMMBank.random_gaussian(candidates, states, middle, spread, rng)
    bank = bank.ordered()
    asked, likeliest = StateExperts(bank, hedger), _likeliest(bank, sequence.numbers)
    labels = bank.nearest(likeliest)
    best, _ = best_candidate(bank, sequence.numbers, start)
    went = {}
    for name, predictor in _predictors(bank, asked, hedger, rng, best).items():
        if progress is not None:
            progress(name)
        mine = predictor is asked
        found = follow(predictor, sequence.numbers, labels if mine else None, keep_weights=mine)
        went[name] = _from(found, start)
    weights = asked.weights
    by_state = np.array([weights[labels == k].sum() for k in range(bank.states)])
    return Inferred(
        sequence,
        went,
        start,
        asked.predict(),
        by_state,
        _says(bank.take(likeliest)),
        asked.impossible,
    )


def _predictors(
    bank: HMMBank,
    asked: StateExperts,
    hedger: Hedger[Any],
    rng: np.random.Generator,
    best: int,
) -> dict[str, Predictor]:
    alpha = getattr(hedger, "alpha", 0.0)
    patience = None if alpha else round(MEMORY)
    named: dict[str, Predictor] = {MAIN: asked, "model experts": ModelExperts(bank, hedger)}
    if can_learn(hedger):
        named["learning bank"] = LearningBank(bank, rng, hedger, patience=patience)
    named |= {
        "Bayes average": BayesAverage(bank),
        "Bayes, discounted": BayesAverage(bank, 1.0 - alpha),
        "best candidate in hindsight": BayesAverage(bank.take(best)),
    }
    if bank.means is not None:
        return named | {"persistence": Persistence(width=bank.width)}
    named |= {
        "state experts, rounded": StateExperts(bank, hedger, rounded=True),
        "model experts, rounded": ModelExperts(bank, hedger, rounded=True),
    }
    if can_learn(hedger):
        named["learning bank, rounded"] = LearningBank(
            bank, rng, hedger, rounded=True, patience=patience
        )
    return named | {
        "Bayes rounded": BayesAverage(bank, rounded=True),
        "persistence": Persistence(bank.symbol_count),
    }


def _scale(numbers: Floats) -> tuple[int, float, float]:
    """Return how many rounds tell the scale, the median of their numbers, and their spread."""
    known = np.flatnonzero(~np.isnan(numbers))
    count = min(WARM_UP, len(known))
    while count < len(known) and np.ptp(numbers[known[:count]]) == 0.0:
        count += 1  # all the same so far
    if count == len(known):
        raise ValueError(
            f"real numbers need more than {WARM_UP} values, the first of which tell their scale, "
            f"got {len(known)}"
        )
    first = numbers[known[:count]]
    low, middle, high = np.quantile(first, [0.1, 0.5, 0.9])
    spread = (high - low) / 2.0 or float(np.ptp(first)) / 2.0
    return int(known[count - 1]) + 1, float(middle), float(spread)


def _from(went: Followed, start: int) -> Followed:
    """Return what a predictor did without the rounds that do not count."""
    if not start:
        return went
    said, losses = went.said.copy(), went.losses.copy()
    said[:start], losses[:start] = np.nan, np.nan
    return replace(went, said=said, losses=losses)


def _present(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _likeliest(bank: HMMBank, numbers: Floats) -> int:
    """Return the candidate with the largest likelihood of the whole sequence."""
    state = bank.init()
    size = block(bank)
    for first in range(0, len(numbers), size):
        state = bank.run(numbers[first : first + size], state).state
    return int(state.log_likelihood.argmax())


def _says(bank: HMMBank) -> Floats:
    """Return what each state of the first candidate says."""
    if bank.emission is not None:
        return bank.emission[..., 0].T.copy()
    assert bank.means is not None
    assert bank.deviations is not None
    return np.column_stack([bank.means[:, 0], bank.deviations[:, 0]])
