"""Candidates of several families and numbers of states, filtered together."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models.emissions import ALL, Gaussian, Regression
from normalhedge.latent.regimes._recipes import AnyCandidate, Candidate, SeriesCandidate
from normalhedge.latent.regimes._series_models import Conjugate

# of each model without hidden states, by its place among the candidates: family, shares, parameters
Components = dict[int, tuple[str, Floats, Floats]]


class CandidateRounds(NamedTuple):
    """The results of N candidates in T rounds."""

    logs: Floats  # ln p_n(y_t | y_1..y_{t-1}), T x N; 0 where the observation is missing
    # P_n(S_t | y_1..y_t), T x N x K, with zeros for states that a candidate does not have
    filtered: Floats
    # means, variances: of y_t given the observations before it, T x N x d
    means: Floats
    variances: Floats


class CandidateFilters(NamedTuple):
    """Where the candidates stand; nothing in it is ever changed in place."""

    beliefs: Floats  # P_n(S_{t+1} | y_1..y_t) of the candidates with fixed parameters, K x N'
    filtered: Floats  # P_n(S_t | y_1..y_t) of all candidates, N x K
    online: Floats  # the numbers of the candidates with online EM, in one block
    models: tuple[Floats, ...] = ()  # the numbers of each model without hidden states


class FilterBank:
    """Candidates that observe the same series.

    The core follows all of them in one call, whatever their families. Nothing in it changes: the
    methods take and return `CandidateFilters`.
    """

    def __init__(self, candidates: Sequence[AnyCandidate], width: int) -> None:
        self._candidates, self._width = tuple(candidates), width
        self._hidden = {n: c for n, c in enumerate(candidates) if isinstance(c, Candidate)}
        self._series = {n: c for n, c in enumerate(candidates) if isinstance(c, SeriesCandidate)}
        self._fixed = {n: c for n, c in self._hidden.items() if c.online is None}
        self._online = {n: c.online for n, c in self._hidden.items() if c.online is not None}
        self._ends = np.cumsum([0, *(len(one.block) for one in self._online.values())]).tolist()
        self._block = np.concatenate([np.empty(0), *(one.block for one in self._online.values())])
        self._moves = np.zeros((width, width, len(self._fixed)))
        for place, candidate in enumerate(self._fixed.values()):
            k = candidate.recipe.states
            self._moves[:k, :k, place] = candidate.fitted.transition
        self.states = np.array([c.recipe.states for c in candidates], dtype=np.int64)
        self.emission = next(c.fitted.emission for c in self._hidden.values())
        self._labels: dict[str, int] = {}  # a number for each family
        # the place of each model without hidden states that the core follows, or else Python
        self._cored = [n for n, c in self._series.items() if isinstance(c.model, Conjugate)]
        self._plain = [n for n in self._series if n not in self._cored]
        self._core = self._hand_over()
        self._families = list(self._labels)

    def _hand_over(self) -> _core.Candidates:
        """Return the candidates as the core reads them."""
        fixed = tuple(
            (n, self._label(c.recipe.family), _core.online_family(c.fitted.emission.family),
             c.fitted.initial, c.fitted.transition, c.fitted.numbers)
            for n, c in self._fixed.items()
        )  # fmt: skip
        online = tuple(
            (n, self._label(self._hidden[n].recipe.family), one.shape, one.settings, one.centre,
             one.width)
            for n, one in self._online.items()
        )  # fmt: skip
        others = []
        for n in self._cored:
            model, numbers = self._series[n].model, self._series[n].numbers
            assert isinstance(model, Conjugate)
            others.append((n, self._label(model.family), *model.shape(numbers)))
        emission = self.emission
        sizes = emission.columns, emission.predicted, self._width, len(self._candidates)
        return _core.Candidates(*sizes, fixed, online, tuple(others))

    def _label(self, family: str) -> int:
        return self._labels.setdefault(family, len(self._labels))

    def __reduce__(self) -> tuple[Any, ...]:
        return FilterBank, (self._candidates, self._width)

    def init(self, now: Floats | None = None) -> CandidateFilters:
        """Return where the candidates stand before the next observation.

        Candidates that were fitted and have not been filtered stand where ``now`` says, N x K.
        """
        filtered = np.zeros((len(self._candidates), self._width)) if now is None else now.copy()
        for n, candidate in self._hidden.items():
            if len(candidate.filtered):
                filtered[n, : candidate.recipe.states] = candidate.filtered
        beliefs = np.einsum("nr,rsn->sn", filtered[list(self._fixed)], self._moves)
        numbers = tuple(candidate.numbers for candidate in self._series.values())
        return CandidateFilters(np.ascontiguousarray(beliefs), filtered, self._block, numbers)

    def candidates(self, filters: CandidateFilters) -> tuple[AnyCandidate, ...]:
        """Return the candidates with all that they have learned."""
        online = {
            n: one.at(filters.online[begin:end])
            for (n, one), (begin, end) in zip(
                self._online.items(), pairwise(self._ends), strict=True
            )
        }
        learned: dict[int, AnyCandidate] = {
            n: candidate._replace(
                filtered=filters.filtered[n, : candidate.recipe.states], online=online.get(n)
            )
            for n, candidate in self._hidden.items()
        }
        for (n, candidate), numbers in zip(self._series.items(), filters.models, strict=True):
            learned[n] = candidate._replace(numbers=numbers)
        return tuple(learned[n] for n in range(len(self._candidates)))

    def components(self, filters: CandidateFilters, rounds: int = 1) -> Components:
        """Return the mixtures of the models without hidden states, so many rounds ahead."""
        return {
            n: (candidate.model.family, *candidate.model.components(numbers, rounds))
            for (n, candidate), numbers in zip(self._series.items(), filters.models, strict=True)
        }

    def mixtures(
        self, filters: CandidateFilters, weights: Floats, given: Floats | None = None
    ) -> list[tuple[str, Floats, Floats]]:
        """Return the next mixture of all candidates: families, shares and parameters, rows x m.

        With covariates there is a normal distribution in each state.
        """
        parts = self._core.mix(*self._standing(filters), weights)
        result = [(self._families[label], share, rows) for label, share, rows in parts]
        for n in self._plain:
            model, numbers = self._series[n].model, self._numbers(filters)[n]
            share, rows = model.components(numbers)
            result.append((model.family, weights[n] * share, rows))
        return result if given is None else [at_covariates(*part, given) for part in result]

    def _numbers(self, filters: CandidateFilters) -> dict[int, Floats]:
        """Return the numbers of the models without hidden states."""
        return dict(zip(self._series, filters.models, strict=True))

    def _standing(self, filters: CandidateFilters) -> tuple[Floats, Floats, tuple[Floats, ...]]:
        """Return where the candidates stand that the core follows."""
        models = filters.models
        if self._plain:
            numbers = self._numbers(filters)
            models = tuple(numbers[n] for n in self._cored)
        return filters.beliefs, filters.online, models

    def predicted(self, filters: CandidateFilters) -> Floats:
        """Return P_n(S_{t+1} | y_1..y_t), N x K."""
        return self._core.predict(*self._standing(filters))

    def smooth(self, seen: Floats) -> Floats:
        """Return P_n(S_t | y_1..y_T) of T x d observations, N x T x K."""
        return self._core.smooth(self._block, np.ascontiguousarray(seen))

    def moments(self, units: tuple[Floats, Floats] | None = None) -> tuple[Floats, Floats]:
        """Return means and variances in all states, N x K x d: 0 and 1 where there is none.

        Given units, they are those of the distributions by which states are compared.
        """
        means = np.zeros((len(self._candidates), self._width, self.emission.columns))
        variances = np.ones_like(means)
        for label, _, rows in self._core.states(self._block):
            name = self._families[label]
            emission = ALL[name].from_core(rows)
            both = (emission if units is None else emission.compared(*units)).moments()
            mine = [n for n in (*self._fixed, *self._online) if self._family(n) == name]
            where = (
                np.repeat(mine, self.states[mine]),
                np.concatenate([np.arange(k) for k in self.states[mine]]),
            )
            for table, part in zip((means, variances), both, strict=True):
                table[where] = part.reshape(len(where[0]), -1)
        return means, variances

    def _family(self, n: int) -> str:
        return self._hidden[n].recipe.family

    def run(
        self, filters: CandidateFilters, observations: Floats, previous: Floats
    ) -> tuple[CandidateFilters, CandidateRounds]:
        """Observe T x d numbers."""
        standing = self._standing(filters)
        now, rounds = self._core.run(*standing, previous, np.ascontiguousarray(observations))
        after, result = CandidateFilters(*now), CandidateRounds(*rounds)
        if not self._plain:
            return after, result
        numbers = self._numbers(filters) | dict(zip(self._cored, after.models, strict=True))
        for n in self._plain:
            seen = observations[:, : self.emission.predicted]
            numbers[n], learned = self._series[n].model.run(numbers[n], seen)
            result.logs[:, n], result.means[:, n] = learned.logs, learned.means
            result.variances[:, n] = learned.variances
        return after._replace(models=tuple(numbers.values())), result


def at_covariates(
    name: str, shares: Floats, rows: Floats, given: Floats
) -> tuple[str, Floats, Floats]:
    """Return a mixture of regressions at these covariates: a mixture of normal distributions."""
    if name != Regression.family:
        return name, shares, rows
    return Gaussian.family, shares, np.stack([rows[0] + given @ rows[1:-1], rows[-1]])
