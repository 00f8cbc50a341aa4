"""Candidates that are filtered together, beside each alone and beside plain NumPy."""

import numpy as np
import pytest

from normalhedge.latent import Regimes
from normalhedge.latent.regimes._filter_bank import FilterBank
from normalhedge.latent.regimes._recipes import Candidate
from normalhedge.latent.regimes._regime_labels import MEMORY
from tests.latent.regimes.examples import series

KINDS = ("gaussian", "student", "autoregressive", "poisson", "categorical", "diagonal", "full")


def fitted(kind: str) -> tuple[Regimes, FilterBank]:
    symbols = 3 if kind == "categorical" else None
    regimes = Regimes(kind, (1, 2, 3), symbols=symbols)
    regimes.run(series(kind)[:200])
    bank = regimes._state.bank
    assert bank is not None
    return regimes, bank


@pytest.mark.parametrize("kind", KINDS)
def test_each_candidate_is_filtered_as_it_is_alone(kind: str) -> None:
    regimes, bank = fitted(kind)
    state = regimes._state
    seen = series(kind)[200:].reshape(60, -1)
    _, rounds = bank.run(state.filters, seen, state.previous)
    beliefs = bank.predicted(state.filters)
    compared = 0
    for n, candidate in enumerate(bank.candidates(state.filters)):
        if not isinstance(candidate, Candidate) or candidate.online is not None:
            continue
        model, k = candidate.fitted, candidate.recipe.states
        both = np.concatenate([state.previous[np.newaxis], seen])
        logs = model.emission.log_densities(both)[1:]
        p = beliefs[n, :k]
        for t, densities in enumerate(logs):
            z = p @ np.exp(densities)
            np.testing.assert_allclose(rounds.logs[t, n], np.log(z), rtol=1e-9, atol=1e-9)
            f = p * np.exp(densities) / z
            np.testing.assert_allclose(rounds.filtered[t, n, :k], f, rtol=1e-7, atol=1e-12)
            assert not rounds.filtered[t, n, k:].any()
            p = f @ model.transition
        compared += 1
    assert compared >= 3


@pytest.mark.parametrize("kind", KINDS)
def test_each_candidate_is_smoothed_as_it_is_alone(kind: str) -> None:
    regimes, _ = fitted(kind)
    state = regimes._state
    assert state.bank is not None
    bank = FilterBank(state.bank.candidates(state.filters), 3)
    seen = series(kind)[:150].reshape(150, -1)
    smoothed = bank.smooth(seen)
    means, variances = None, None
    if kind != "categorical":
        means, variances = bank.moments()
    for n, candidate in enumerate(bank.candidates(bank.init())):
        if not isinstance(candidate, Candidate):
            assert not smoothed[n].any()
            continue
        model = candidate.now()
        k = model.states
        np.testing.assert_allclose(smoothed[n, :, :k], model.smooth(seen)[0], atol=1e-8)
        if means is not None and variances is not None:
            mean, variance = model.emission.moments()
            np.testing.assert_allclose(means[n, :k].ravel(), mean.ravel(), rtol=1e-9)
            np.testing.assert_allclose(variances[n, :k].ravel(), variance.ravel(), rtol=1e-9)


def test_leads_and_regimes_are_sums_over_candidates() -> None:
    regimes, bank = fitted("gaussian")
    state = regimes._state
    labels = state.labels
    seen = series("gaussian")[200:230, np.newaxis]
    _, rounds = bank.run(state.filters, seen, state.previous)
    known = ~np.isnan(seen[:, 0])
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(len(bank.states)), len(seen))
    after, standing, mixed = labels.remember(
        rounds.logs, weights, bank.states, known, state.pool.standing
    )
    np.testing.assert_allclose(
        mixed, np.log((weights * np.exp(rounds.logs)).sum(axis=1)), rtol=1e-9, atol=1e-12
    )
    ahead, place, counted = labels.ahead.copy(), state.pool.standing.copy(), labels.rounds
    evidence = labels.evidence.copy()
    keep = 1.0 - 1.0 / MEMORY
    for log, weight, total in zip(rounds.logs[known], weights[known], mixed[known], strict=True):
        groups, w = np.eye(len(ahead))[bank.states], weight + 1e-9
        shares, sums = w @ groups, (w * np.exp(log - total)) @ groups
        hidden = np.log(sums[1:].sum()) - np.log(shares[1:].sum())
        gained = np.log(sums + 1e-290) - np.log(shares + 1e-290)
        ahead = keep * ahead + gained - np.where(shares > 0.0, hidden, 0.0)
        place = keep * place + np.clip(log - total - hidden, -20.0, 20.0)
        counted = keep * counted + 1.0
        there = (w @ labels.kinds) > 0.0
        leads = np.zeros(len(there))
        leads[there] = np.log(((w * np.exp(log - total)) @ labels.kinds)[there])
        leads[there] -= np.log((w @ labels.kinds)[there])
        evidence += np.where(there, leads - leads[0], 0.0)
    np.testing.assert_allclose(after.ahead, ahead, rtol=1e-9)
    np.testing.assert_allclose(after.evidence, evidence, rtol=1e-9)
    np.testing.assert_allclose(standing, place, rtol=1e-9)
    assert after.rounds == pytest.approx(counted)
    shares, switching = labels.regimes(weights, rounds.filtered)
    states = weights[..., np.newaxis] * rounds.filtered
    hidden = weights @ (bank.states > 0)
    wanted = np.einsum("tns,nsr->tr", states, labels.maps) / hidden[:, np.newaxis]
    np.testing.assert_allclose(shares, wanted, rtol=1e-9)
    np.testing.assert_allclose(
        switching, np.einsum("tns,ns->t", states, labels.leave) / (weights @ labels.alike)
    )
