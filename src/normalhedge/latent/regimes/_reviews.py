"""When models are fitted and candidates are reviewed, and what a review does."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models import Fits
from normalhedge.latent.regimes import _series_models
from normalhedge.latent.regimes._candidates import AT_ONCE, LAG, NOVEL, REVIEW, CandidateSearch
from normalhedge.latent.regimes._filter_bank import FilterBank
from normalhedge.latent.regimes._recipes import FIRST, Candidate, Pending, hidden_only
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._state import RegimesState
from normalhedge.latent.regimes._surprise import PATIENCE

BESIDE = {
    "gaussian": ("gaussian", "student"),
    "poisson": ("poisson", "negative_binomial"),
    "full": ("full", "diagonal"),
}
"""The families that are tried, by the requested one."""

# the number of last observations that are kept; models of all rounds are fitted to them
LONGEST = 20_000
# from this number of observations on, every second review is left out while nothing new begins
EXPERIENCED = 2000
BLOCKS = 64  # the largest number of blocks in which they are kept


@dataclass(frozen=True)
class Reviews:
    """The fits and reviews of the candidates; every method is a pure function of a state."""

    settings: RegimesSettings

    def settle(self, state: RegimesState) -> RegimesState:
        """Return the state with the novelty of all rounds, which live rounds leave for later."""
        if not state.waiting:
            return state
        places = np.concatenate(state.waiting)
        return self.notice(state, state.rounds - len(places), places)[0]._replace(waiting=())

    def notice(
        self, state: RegimesState, rounds: int, places: Floats
    ) -> tuple[RegimesState, Floats, npt.NDArray[np.bool_]]:
        """Learn how surprising observations were; return the state, novelty and alarms."""
        patience = float(self.settings.patience or PATIENCE)
        surprise, novelty, alarms = state.surprise.learn(places, rounds, patience)
        return state._replace(surprise=surprise), novelty, alarms

    def advance(self, state: RegimesState, block: Floats) -> RegimesState:
        """Let time pass; review the candidates if a review is due."""
        new = int((~np.isnan(block[:, 0])).sum())
        seen, observed = (*state.seen, block), state.observed + new
        due = new and observed == _next_event(state)
        state = state._replace(
            seen=seen if len(seen) <= BLOCKS else (np.concatenate(seen)[-LONGEST:],),
            previous=block[-1],
            rounds=state.rounds + len(block),
            observed=observed,
        )
        if due or len(state.waiting) >= REVIEW:
            state = self.settle(state)
        return self._review(state) if due else state

    def work(self, state: RegimesState) -> RegimesState:
        """Do a share of the fits that were begun, every few rounds."""
        shares = [pending.due_now(state.observed) for pending in state.pending]
        if not any(shares) or all(fits is not None and fits.done for fits in state.fits):
            return state
        after: list[Fits | None] = []
        for pending, fits, share in zip(state.pending, state.fits, shares, strict=True):
            if not share or (fits is not None and fits.done):
                after.append(fits)
            elif fits is None:
                after.append(pending.fits(state.rng, self.settings.symbols))
            else:
                after.append(fits.advance(fits.work * share))
        return state._replace(fits=tuple(after))

    def _review(self, state: RegimesState) -> RegimesState:
        """Begin the fits that are due, or end fits and match states with regimes again."""
        begins, ends = _events(state)
        seen = state.seen
        if begins:
            seen = (np.concatenate(seen)[-LONGEST:],)
            state = state._replace(seen=seen)
            state = self._begin(state, seen[0])
        return self._end(state, np.concatenate(seen)[-LONGEST:]) if ends else state

    def _search(self, kind: str) -> CandidateSearch:
        settings = self.settings
        return CandidateSearch(
            BESIDE.get(kind, (kind,)),
            settings.numbers,
            settings.budget,
            settings.symbols,
            _series_models.tried(kind, settings.symbols),
        )

    def _begin(self, state: RegimesState, seen: Floats) -> RegimesState:
        """Begin the fits that are due."""
        if int((~np.isnan(seen[:, 0])).sum()) < FIRST:
            return state
        assert state.emission is not None
        begun = self._search(state.emission).begin(
            state.pool,
            state.pending,
            seen,
            state.weights,
            novel=state.surprise.novelty > NOVEL,
        )
        return state._replace(
            pending=(*state.pending, *begun), fits=(*state.fits, *(None for _ in begun))
        )

    def _end(self, state: RegimesState, seen: Floats) -> RegimesState:
        """Let fitted models take their places, and match states with regimes again."""
        settings, pool = self.settings, state.pool
        fitted: list[Candidate] = []
        rest: list[tuple[Pending, Fits | None]] = []
        for pending, begun in zip(state.pending, state.fits, strict=True):
            if pending.due > state.observed:
                rest.append((pending, begun))
                continue
            fits = pending.fits(state.rng, settings.symbols) if begun is None else begun
            fitted += pending.candidates(fits.advance().results())
        if state.bank is not None:
            pool = pool._replace(candidates=state.bank.candidates(state.filters))
        assert state.emission is not None
        pool, left, joined = self._search(state.emission).end(pool, fitted, seen, state.weights)
        state = state._replace(
            pending=tuple(pending for pending, _ in rest), fits=tuple(fits for _, fits in rest)
        )
        if not hidden_only(pool.candidates):  # too few observations for this many states
            return state._replace(pool=pool)
        bank = FilterBank(pool.candidates, settings.most)
        labels, now = state.labels.match(pool, bank, seen, settings.worth)
        return state._replace(
            pool=pool,
            game=settings.averaging.change(state.game, left, joined),
            bank=bank,
            filters=bank.init(now),
            labels=labels,
            history=(*state.history, (state.rounds, labels.parameters())),
        )


def until_review(state: RegimesState, table: Floats) -> int:
    """Return how many of these rounds pass until the next review, at most all of them."""
    wanted = _next_event(state) - state.observed
    if not np.isnan(table[:wanted, 0]).any():
        return min(wanted, len(table))
    known = np.cumsum(~np.isnan(table[:, 0]))
    return min(int(np.searchsorted(known, wanted)) + 1, len(table))


def _next_event(state: RegimesState) -> int:
    """Return the number of observations when fits begin or end next: 4, 8, 16, 32, 50, 100, ..."""
    observed = state.observed
    early = [at for at in (FIRST, 8, 16, 32, REVIEW, AT_ONCE) if at > observed]
    if early:
        return early[0]
    begun = observed // REVIEW * REVIEW
    events = [begun + LAG, begun + REVIEW, *(pending.due for pending in state.pending)]
    return min(event for event in events if event > observed)


def _events(state: RegimesState) -> tuple[bool, bool]:
    """Return whether fits begin, and whether fits end."""
    observed = state.observed
    if observed < AT_ONCE:
        return True, True
    begun = observed // REVIEW * REVIEW
    calm = observed >= EXPERIENCED and not state.surprise.novelty > NOVEL
    skipped = calm and bool(begun % (2 * REVIEW))
    due = any(pending.due <= observed for pending in state.pending)
    return observed == begun and not skipped, due or (observed == begun + LAG and not skipped)
