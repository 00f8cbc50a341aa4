"""Candidates of several families and numbers of states, filtered together."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from normalhedge import _core
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import OnlineEM, OnlineModels, OnlineRun, lay_out
from normalhedge.latent.models.emissions import ALL, Autoregressive, Gaussian, Regression
from normalhedge.latent.regimes._recipes import AnyCandidate, Candidate, SeriesCandidate

# of each model without hidden states, by its place among the candidates: family, shares, parameters
Components = dict[int, tuple[str, Floats, Floats]]


class CandidateRounds(NamedTuple):
    """The results of N candidates in T rounds."""

    logs: Floats  # ln p_n(y_t | y_1..y_{t-1}), T x N; 0 where the observation is missing
    # P_n(S_t | y_1..y_t), T x N x K, with zeros for states that a candidate does not have
    filtered: Floats
    # means, variances: of y_t given the observations before it, T x N x d; T x N x 0 if they are
    # not requested
    means: Floats
    variances: Floats


class CandidateFilters(NamedTuple):
    """Where the candidates stand; nothing in it is ever changed in place."""

    beliefs: Floats  # P_n(S_{t+1} | y_1..y_t) of the candidates with fixed parameters, K x N'
    filtered: Floats  # P_n(S_t | y_1..y_t) of all candidates, N x K
    online: Floats  # the numbers of the candidates with online EM, in one block; see `OnlineModels`
    models: tuple[Floats, ...] = ()  # the numbers of each model without hidden states


class FilterBank:
    """Candidates that observe the same series.

    One call of the core filters all candidates with fixed parameters, whatever their families.
    Nothing in it changes: the methods take and return `CandidateFilters`.
    """

    def __init__(
        self, candidates: Sequence[AnyCandidate], width: int, before: "FilterBank | None" = None
    ) -> None:
        self._candidates, self._width = tuple(candidates), width
        self._hidden = {n: c for n, c in enumerate(candidates) if isinstance(c, Candidate)}
        self._series = {n: c for n, c in enumerate(candidates) if isinstance(c, SeriesCandidate)}
        self._fixed = [n for n, c in self._hidden.items() if c.online is None]
        self._online = [n for n, c in self._hidden.items() if c.online is not None]
        learners = [candidate.online for candidate in self._hidden.values()]
        online = [learner for learner in learners if learner is not None]
        same = before is not None and before._models.holds(online)
        self._models: OnlineModels = before._models if before and same else OnlineModels(online)
        self._block = np.concatenate([np.empty(0), *(learner.block for learner in online)])
        fixed = [self._hidden[n] for n in self._fixed]
        self._families = [_Family(name, fixed) for name in {c.recipe.family: 0 for c in fixed}]
        self._moves = np.zeros((width, width, len(fixed)))
        for n, candidate in enumerate(fixed):
            k = candidate.recipe.states
            self._moves[:k, :k, n] = candidate.fitted.transition
        self.states = np.array([c.recipe.states for c in candidates], dtype=np.int64)
        self._places = np.array(self._fixed, dtype=np.int64)
        self._shapes, self._numbers = lay_out([candidate.fitted for candidate in fixed])
        self._packed = np.zeros((len(fixed), width, 4))
        self.emission = next(c.fitted.emission for c in self._hidden.values())
        self._columns = self.emission.columns
        if fixed:
            _core.pack_states(self._shapes, self._numbers, self._columns, self._packed)
        sizes = self._models.sizes
        self._online_rows = np.repeat(np.array(self._online, dtype=np.intp), sizes)
        self._online_states = np.concatenate([np.empty(0, np.intp), *map(np.arange, sizes)])

    def __reduce__(self) -> tuple[Any, ...]:
        return FilterBank, (self._candidates, self._width)

    def init(self, now: Floats | None = None) -> CandidateFilters:
        """Return the predictive states of the candidates before the next observation.

        Candidates that were fitted and have not been filtered stand where ``now`` says, N x K.
        """
        filtered = np.zeros((len(self._candidates), self._width)) if now is None else now.copy()
        for n, candidate in self._hidden.items():
            if len(candidate.filtered):
                filtered[n, : candidate.recipe.states] = candidate.filtered
        beliefs = np.einsum("nr,rsn->sn", filtered[self._fixed], self._moves)
        numbers = tuple(candidate.numbers for candidate in self._series.values())
        return CandidateFilters(beliefs, filtered, self._block, numbers)

    def candidates(self, filters: CandidateFilters) -> tuple[AnyCandidate, ...]:
        """Return the candidates with all that they have learned."""
        online = self._online_at(filters)
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
        shares = weights[self._fixed] * filters.beliefs
        result = [family.mixture(shares) for family in self._families]
        beliefs, emissions = self._models.components(filters.online)
        beliefs *= weights[self._online_rows]
        for emission, group in emissions:
            name = self._hidden[self._online_rows[group.states[0]]].recipe.family
            result.append((name, beliefs[group.states], emission.parameters()))
        for n, (name, share, rows) in self.components(filters).items():
            result.append((name, weights[n] * share, rows))
        return result if given is None else [at_covariates(*part, given) for part in result]

    def _online_at(self, filters: CandidateFilters) -> dict[int, OnlineEM]:
        return dict(zip(self._online, self._models.at(filters.online), strict=True))

    def predicted(self, filters: CandidateFilters) -> Floats:
        """Return P_n(S_{t+1} | y_1..y_t), N x K."""
        result = np.zeros((len(self._candidates), self._width))
        result[self._fixed] = filters.beliefs.T
        result[self._online_rows, self._online_states] = self._models.components(filters.online)[0]
        return result

    def smooth(self, seen: Floats) -> Floats:
        """Return P_n(S_t | y_1..y_T) of T x d observations, N x T x K."""
        numbers, shapes = [self._numbers], self._shapes.tolist()
        end = len(self._numbers)
        online = self._models.at(self._block)
        more: dict[int, list[int]] = {}
        for emission, group in self._models.components(self._block)[1]:
            rows = emission.parameters()
            for place, begin in group.members:
                part = rows[:, begin : begin + online[place].states]
                family = _core.online_family(emission.family)
                more[place] = [family, part.shape[1], len(part), end]
                numbers.append(part.ravel())
                end += part.size
        shapes += [more[place] for place in range(len(online))]
        initial = np.zeros((len(shapes), self._width))
        moves = np.zeros((len(shapes), self._width, self._width))
        moves[: len(self._fixed)] = np.moveaxis(self._moves, -1, 0)
        for place, n in enumerate(self._fixed):
            model = self._hidden[n].fitted
            initial[place, : model.states] = model.initial
        for place, learner in enumerate(online, start=len(self._fixed)):
            k = learner.states
            initial[place, :k] = 1.0 / k
            moves[place, :k, :k] = learner.transition
        smoothed = np.zeros((len(shapes), len(seen), self._width))
        table = np.array(shapes, dtype=np.int64)
        _core.smooth_candidates(table, np.concatenate(numbers), initial, moves, seen, smoothed)
        result = np.zeros((len(self._candidates), len(seen), self._width))
        result[[*self._fixed, *self._online]] = smoothed
        return result

    def moments(self, units: tuple[Floats, Floats] | None = None) -> tuple[Floats, Floats]:
        """Return means and variances in all states, N x K x d: 0 and 1 where there is none.

        Given units, they are those of the distributions by which states are compared.
        """
        means = np.zeros((len(self._candidates), self._width, self._columns))
        variances = np.ones_like(means)
        for family in self._families:
            family.write_states(self._fixed, means, variances, units)
        for emission, group in self._models.components(self._block)[1]:
            where = self._online_rows[group.states], self._online_states[group.states]
            mean, variance = (emission if units is None else emission.compared(*units)).moments()
            means[where] = mean.reshape(len(group.states), -1)
            variances[where] = variance.reshape(len(group.states), -1)
        return means, variances

    def run(
        self,
        filters: CandidateFilters,
        observations: Floats,
        previous: Floats,
        *,
        moments: bool = True,
    ) -> tuple[CandidateFilters, CandidateRounds]:
        """Observe T x d numbers."""
        rounds, columns = len(observations), self.emission.predicted
        shape = (rounds, len(self._candidates))
        room = (*shape, columns if moments else 0)
        result = CandidateRounds(
            np.zeros(shape), np.zeros((*shape, self._width)), np.zeros(room), np.zeros(room)
        )
        series = np.concatenate([previous[np.newaxis], observations])
        beliefs, block = filters.beliefs, filters.online
        if self._fixed:
            beliefs = self._filter(beliefs, series, result, moments=moments)
        if self._online:
            if moments or rounds > 1:
                block, runs = self._models.run(block, observations)
                for n, run in zip(self._online, runs, strict=True):
                    _write_online(run, series, n, result, moments=moments)
            else:
                block, logs, filtered = self._models.observe(block, observations[0])
                result.logs[0, self._online] = logs
                result.filtered[0, self._online, : filtered.shape[1]] = filtered
        models = []
        for (n, candidate), numbers in zip(self._series.items(), filters.models, strict=True):
            later, learned = candidate.model.run(numbers, observations[:, :columns])
            models.append(later)
            result.logs[:, n] = learned.logs
            if moments:
                result.means[:, n], result.variances[:, n] = learned.means, learned.variances
        return CandidateFilters(beliefs, result.filtered[-1].copy(), block, tuple(models)), result

    def _filter(
        self, beliefs: Floats, series: Floats, result: CandidateRounds, *, moments: bool
    ) -> Floats:
        """Write the results of the candidates with fixed parameters; return their new beliefs."""
        rounds, count, width = len(series) - 1, len(self._fixed), self._width
        predicted = np.empty((rounds + 1, width, count))
        predicted[0] = beliefs
        _core.filter_candidates(
            self._shapes,
            self._numbers,
            self._packed,
            self._places,
            self._moves,
            series,
            predicted,
            result.logs,
            result.filtered,
        )
        before = predicted[:-1]
        if moments:
            means = np.zeros((rounds, width, count, self.emission.predicted))
            variances = np.zeros_like(means)
            for family in self._families:
                family.write_moments(series, means, variances)
            mean, variance = _mix(before[..., np.newaxis], means, variances)
            result.means[:, self._fixed], result.variances[:, self._fixed] = mean, variance
        return np.array(predicted[-1])


class _Family:
    """The candidates of one family, with their states side by side as the core reads them."""

    def __init__(self, name: str, fixed: list[Candidate]) -> None:
        self._name = name
        mine = [(n, c) for n, c in enumerate(fixed) if c.recipe.family == name]
        rows = [c.fitted.numbers for _, c in mine]
        self._rows = np.ascontiguousarray(np.concatenate(rows, axis=1))
        self._emission = ALL[name].from_core(self._rows)
        self._states = np.concatenate([np.arange(c.recipe.states) for _, c in mine])
        self._places = np.repeat([n for n, _ in mine], [c.recipe.states for _, c in mine])

    def mixture(self, shares: Floats) -> tuple[str, Floats, Floats]:
        """Return the name, the shares of the states, given all as K x N, and the parameters."""
        return self._name, shares[self._states, self._places], self._rows

    def write_states(
        self,
        fixed: Sequence[int],
        means: Floats,
        variances: Floats,
        units: tuple[Floats, Floats] | None,
    ) -> None:
        """Write means and variances of the states, N x K x d, in units if they are given."""
        emission = self._emission if units is None else self._emission.compared(*units)
        mean, variance = emission.moments()
        where = np.asarray(fixed)[self._places], self._states
        means[where] = mean.reshape(len(self._states), -1)
        variances[where] = variance.reshape(len(self._states), -1)

    def write_moments(self, series: Floats, means: Floats, variances: Floats) -> None:
        """Write means and variances, T x K x N x d."""
        where = slice(None), self._states, self._places
        means[where], variances[where] = self._emission.moments_given(series)


def _write_online(
    learned: OnlineRun, series: Floats, n: int, result: CandidateRounds, *, moments: bool
) -> None:
    """Write the results of a candidate with online EM."""
    rounds, k = learned.beliefs.shape
    result.logs[:, n] = learned.log_densities
    result.filtered[:, n, :k] = learned.filtered
    if not moments:
        return
    means, variances = learned.emissions.moments()
    if isinstance(learned.emissions, Autoregressive):
        last = np.repeat(series[:-1, 0], k)
        known, states = ~np.isnan(last), learned.emissions
        means = np.where(known, states.intercepts + states.slopes * np.nan_to_num(last), means)
        variances = np.where(known, states.deviations**2, variances)
    if isinstance(learned.emissions, Regression):
        x, lines = np.repeat(series[1:, 1:], k, axis=0), learned.emissions
        means = lines.intercepts + (lines.slopes * x).sum(axis=1)
    shape = (rounds, k, learned.emissions.predicted)
    mean, variance = _mix(
        learned.beliefs[..., np.newaxis], means.reshape(shape), variances.reshape(shape)
    )
    result.means[:, n], result.variances[:, n] = mean, variance


def at_covariates(
    name: str, shares: Floats, rows: Floats, given: Floats
) -> tuple[str, Floats, Floats]:
    """Return a mixture of regressions at these covariates: a mixture of normal distributions."""
    if name != Regression.family:
        return name, shares, rows
    return Gaussian.family, shares, np.stack([rows[0] + given @ rows[1:-1], rows[-1]])


def _mix(shares: Floats, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a mixture over the second axis."""
    mean = (shares * means).sum(axis=1)
    away = np.square(means - mean[:, np.newaxis])
    return mean, (shares * (variances + away)).sum(axis=1)
