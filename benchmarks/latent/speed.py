"""Banks of hidden Markov models against plain NumPy, and against dynamax where it is installed."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.timing import Row, measure
from normalhedge import NormalHedge
from normalhedge.latent import CategoricalBank, StateExperts, follow, random_categorical_bank
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._fitting import fit
from normalhedge.latent.models._online_em import OnlineEM
from normalhedge.latent.models.emissions import Gaussian

CANDIDATES, STATES, SYMBOLS = 1_000, 4, 2
ALPHA, C = 0.001, 4.0
ROUNDS = 2_000


class NumpyBank:
    """Filtering and hedging as anybody would write them in NumPy, in states x candidates."""

    def __init__(self, bank: CategoricalBank) -> None:
        self.transition, self.emission = bank.transition, bank.emission
        self.beliefs, self.logs = bank.initial.copy(), np.zeros(bank.candidates)
        self.regrets = np.zeros(bank.states * bank.candidates)
        self.weights = np.full_like(self.regrets, 1.0 / self.regrets.size)

    def filter(self, symbol: int) -> None:
        """Condition and predict."""
        filtered = self.beliefs * self.emission[symbol]
        likelihood = filtered.sum(axis=0)
        filtered /= likelihood
        self.logs += np.log(likelihood)
        beliefs = np.einsum("rn,rsn->sn", filtered, self.transition)
        self.beliefs = beliefs / beliefs.sum(axis=0)

    def hedge(self, symbol: int) -> None:
        """Play a round of NormalHedge over the states of all candidates."""
        confidence = self.beliefs.ravel()
        played = self.weights * confidence
        played /= played.sum()
        gains = 2.0 * self.emission[symbol].ravel() - 1.0
        self.regrets = (1.0 - ALPHA) * self.regrets + confidence * (gains - played @ gains)
        positive = np.maximum(self.regrets, 0.0)
        exponents = ALPHA * positive**2 / (2.0 * C)
        weights = positive * np.exp(exponents - exponents.max())
        total = weights.sum()
        self.weights = weights / total if total else np.full_like(weights, 1.0 / weights.size)


class OurBank:
    """The same of ours."""

    def __init__(self, bank: CategoricalBank) -> None:
        self.bank, self.state = bank, bank.init()

    def filter(self, symbol: int) -> None:
        """Condition and predict."""
        self.state = self.bank.observe(self.state, symbol)


def rows() -> Iterator[Row]:
    """Yield the table of banks."""
    rng = np.random.default_rng(0)
    bank = random_categorical_bank(CANDIDATES, STATES, SYMBOLS, rng)
    symbols = rng.integers(SYMBOLS, size=ROUNDS).tolist()
    feeds = [cycle(symbols) for _ in range(4)]
    ours, plain = OurBank(bank), NumpyBank(bank)
    both, hedged = NumpyBank(bank), StateExperts(bank, NormalHedge(ALPHA, C))

    def in_numpy() -> None:
        symbol = next(feeds[0])
        both.hedge(symbol)
        both.filter(symbol)

    work = f"filter {CANDIDATES:,} HMMs, k = {STATES}"
    yield measure(
        work,
        lambda: ours.filter(next(feeds[1])),
        ("NumPy, k x N", lambda: plain.filter(next(feeds[2]))),
        ">= 3.5x",
        calls=500,
    )
    yield measure(
        f"filter + hedge over {CANDIDATES * STATES:,} states",
        lambda: hedged.observe(next(feeds[3])),
        ("NumPy, k x N", in_numpy),
        ">= 4x",
        calls=300,
    )
    yield from with_gaps(rng)
    yield from fits(rng)
    if find_spec("dynamax") is not None:
        yield from beside_dynamax(bank, symbols)


def with_gaps(rng: np.random.Generator) -> Iterator[Row]:
    """Yield sequences of which every second value is missing, beside the same without gaps."""
    for candidates in (10, 200):
        bank = random_categorical_bank(candidates, 2, SYMBOLS, rng)
        whole = rng.integers(SYMBOLS, size=ROUNDS).astype(np.float64)
        gapped = np.where(np.arange(ROUNDS) % 2, np.nan, whole)

        def lead(numbers: np.ndarray, bank: CategoricalBank = bank) -> None:
            follow(StateExperts(bank, NormalHedge(ALPHA, C)), numbers)

        yield measure(
            f"{ROUNDS:,} values, half missing, {2 * candidates} states",
            partial(lead, gapped),
            ("without gaps", partial(lead, whole)),
            ">= 0.67x",
        )


def fits(rng: np.random.Generator) -> Iterator[Row]:
    """Yield a fit of thirty iterations beside hmmlearn from the same start, and learning online."""
    path = np.repeat(rng.integers(3, size=50), 20)
    seen = np.array([-1.0, 0.0, 1.0])[path] + rng.normal(size=1_000)
    steps = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    emission = Gaussian(np.array([-1.0, 0.0, 1.0]), np.ones(3))
    start = Fitted(np.full(3, 1.0 / 3.0), steps, emission, 0.0, 0, np.empty(0))

    def ours() -> None:
        fit(seen, 3, rng=rng, warm=start, starts=0, iterations=30, tolerance=0.0)

    if find_spec("hmmlearn") is not None:
        from hmmlearn.hmm import GaussianHMM  # noqa: PLC0415

        def theirs() -> None:
            model = GaussianHMM(3, n_iter=30, tol=-np.inf, init_params="")
            model.startprob_, model.transmat_ = start.initial, start.transition
            model.means_, model.covars_ = np.array([[-1.0], [0.0], [1.0]]), np.ones((3, 1))
            model.fit(seen[:, np.newaxis])

        yield measure("fit an HMM, k = 3, T = 1,000", ours, ("hmmlearn", theirs), ">= 10x")
    online, values = OnlineEM(start, 0.99), cycle(seen.tolist())
    yield measure(
        "learn an HMM online, k = 3",
        lambda: online.observe(next(values)),
        ("refitting, 30 iterations", ours),
        ">= 500x",
        calls=1_000,
        reference_calls=1,
    )


def beside_dynamax(bank: CategoricalBank, symbols: list[int]) -> Iterator[Row]:
    """Yield one observation, and a whole sequence, beside dynamax with vmap and jit."""
    jax: Any = import_module("jax")
    jnp = jax.numpy
    hmm_filter = import_module("dynamax.hidden_markov_model.inference").hmm_filter
    jax.config.update("jax_enable_x64", val=True)
    initial = jnp.asarray(bank.initial.T)
    transition = jnp.asarray(np.moveaxis(bank.transition, -1, 0))
    logs = jnp.log(jnp.asarray(np.moveaxis(bank.emission, -1, 0)))  # N x m x k

    def one(beliefs: Any, moves: Any, score: Any) -> Any:
        found = hmm_filter(beliefs, moves, score[None, :])
        return found.filtered_probs[-1] @ moves, found.marginal_loglik

    step = jax.jit(jax.vmap(one))
    feeds, now = (cycle(symbols), cycle(symbols)), [initial]
    scores = [jnp.asarray(logs[:, x]) for x in range(SYMBOLS)]
    ours = OurBank(bank)

    def theirs() -> None:
        now[0], _ = jax.block_until_ready(step(now[0], transition, scores[next(feeds[0])]))

    yield measure(
        f"filter {CANDIDATES:,} HMMs, k = {STATES}",
        lambda: ours.filter(next(feeds[1])),
        ("dynamax, online", theirs),
        ">= 5x",
        calls=100,
    )
    many = jax.jit(jax.vmap(hmm_filter))
    table = jnp.asarray(np.asarray(logs)[:, symbols])

    def whole() -> None:
        fresh = OurBank(bank)
        for symbol in symbols:
            fresh.filter(symbol)

    yield measure(
        f"filter {CANDIDATES:,} HMMs over {len(symbols):,} rounds",
        whole,
        ("dynamax, scan", lambda: jax.block_until_ready(many(initial, transition, table))),
        ">= 2x",
        repeats=3,
    )
