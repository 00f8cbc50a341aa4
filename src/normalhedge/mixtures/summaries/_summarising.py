"""Compute the summary of a mixture, or of a table that was blended."""

from math import nan
from typing import NamedTuple

import numpy as np

from normalhedge.boundary.inputs import LARGEST, Floats
from normalhedge.mixtures.alerts import Alert, watch_mixture
from normalhedge.mixtures.rules import BASE, Automatic, ledger_weights, levels_of
from normalhedge.mixtures.state import MixtureSettings, MixtureState, sum_rows, widen
from normalhedge.mixtures.summaries._bounds import regret_bound
from normalhedge.mixtures.summaries._comparison import OFTEN, Comparison, Settled, compare
from normalhedge.mixtures.summaries._components import (
    RECENT,
    component_names,
    score_components,
    several_items,
)
from normalhedge.mixtures.summaries._contexts import context_rows
from normalhedge.mixtures.summaries._summary import ComponentRow, ExpertRow, Summary


class TablePart(NamedTuple):
    """A table that was blended: its sums, and its rows with the predictions."""

    # sums, totals: stretches x sums x experts, and stretches x sums; see
    # `normalhedge.mixtures.state.sum_rows`
    sums: Floats
    totals: Floats
    rows: Settled  # the rows of the table
    alerts: tuple[Alert, ...] = ()


def summarise(state: MixtureState, table: TablePart | None = None) -> Summary:
    """Return the summary of a mixture."""
    sums = state.live.expert_sums if table is None else table.sums.sum(axis=0)
    totals = state.live.total_sums if table is None else _add_stretches(table.totals)
    experts = _experts(state, sums, totals)
    settled = totals[sum_rows.SETTLED]
    scored = dict(zip(state.names, sums[sum_rows.SCORED] / max(settled, 1.0), strict=True))
    often = [row for row in experts if scored[row.name] >= OFTEN]
    automatic = isinstance(state.settings.hedger, Automatic)
    names = component_names(state)
    rows = last_rounds(state) if table is None else table.rows
    comparison = _comparison(state, rows)
    return Summary(
        settings=_settings(state.settings),
        rounds=state.rounds,
        rows=int(totals[sum_rows.ROWS]),
        settled=int(settled),
        silent=int(totals[sum_rows.SILENT]),
        pending=len(state.pending),
        expired=state.expired,
        blend=_ratio(totals[sum_rows.BLEND], settled),
        uniform=_ratio(totals[sum_rows.UNIFORM], settled),
        best=min(often, key=lambda row: row.loss - row.blend_loss, default=None),
        comparison=comparison,
        automatic=automatic,
        components=_components(state, names, comparison),
        moved=_count_pairs(state, sums[sum_rows.ABSURD]),
        crossed=_count_pairs(state, sums[sum_rows.CROSSED])
        if state.settings.loss.of_levels
        else [],
        contexts=context_rows(state, rows),
        covered=state.covered(),
        regret=_regret(state),
        bound=regret_bound(state),
        ranges=np.zeros(0) if automatic else state.ranges[:, 0].copy(),
        experts=experts,
        alerts=watch_mixture(state) if table is None else table.alerts,
    )


def _regret(state: MixtureState) -> float:
    """Return the largest present regret to an expert; for auto, to a component."""
    hedger, live = state.settings.hedger, state.live
    regrets = hedger.regrets(live) if isinstance(hedger, Automatic) else live.loss_regrets
    return float(regrets.max()) if regrets.size else 0.0


def component_weights(state: MixtureState) -> Floats:
    """Return the present weights of the components, in the order of their names.

    If each item has its own weights, the mean over the items.
    """
    return np.asarray(_level_weights(state).mean(axis=0))


def expert_weights(state: MixtureState) -> Floats:
    """Return the present weights of the experts, as if all that did not retire were awake.

    If each item has its own weights, the mean over the items.
    """
    hedger, live, retired = state.settings.hedger, state.live, state.retired
    awake = np.array([name not in retired for name in state.names], dtype=float)
    if not isinstance(hedger, Automatic):
        return np.asarray(_share_out(state.weights, awake).mean(axis=0))
    levels, ledgers = _level_weights(state), live.ledgers
    components = hedger.components(state.settings.loss)
    plain = sum(way.hedger is None for way in components)
    blocks = ledger_weights(components, ledgers, len(state.settings.loss.settings))
    blocks = _share_out(blocks, awake)
    result = levels[:, :plain].sum() / awake.sum() * awake
    if several_items(state):
        shared, separate = np.split(levels[:, plain:], 2, axis=1)
        result += np.einsum("ik,kn->n", shared, blocks[0])
        result += np.einsum("ik,ikn->n", separate, blocks[1:])
    else:
        result += np.einsum("gk,gkn->n", levels[:, plain:], blocks)
    return np.asarray(result / len(levels))


def _share_out(weights: Floats, awake: Floats) -> Floats:
    """Return weights whose last axis is the experts', over the experts awake only."""
    if awake.all():
        return weights
    used = weights * awake
    sums = used.sum(axis=-1, keepdims=True)
    return np.where(sums > 0.0, used / np.where(sums > 0.0, sums, 1.0), awake / awake.sum())


def _level_weights(state: MixtureState) -> Floats:
    """Return the weights of the components for each item, or in each game."""
    levels, count = levels_of(state.live), len(component_names(state))
    used = levels.ways[:, :count] / levels.ways[:, :count].sum(axis=1, keepdims=True)
    hedger, loss = state.settings.hedger, state.settings.loss
    assert isinstance(hedger, Automatic)
    first, corrections = hedger.first_way(loss) - 3, hedger.corrections(loss)
    insured = levels.insurance[:, : first + count + corrections * several_items(state)]
    insured = (insured / insured.sum(axis=1, keepdims=True))[:, first : first + count]
    if several_items(state):
        common, separate = levels.choice[0] / levels.choice[0].sum()
        used, insured = common * used[0] + separate * used[1:], insured[:1]
    # Corrections count as the base that they correct.
    return np.asarray((1.0 - insured.sum(axis=1, keepdims=True)) * used + insured)


def _components(
    state: MixtureState, names: list[str], comparison: Comparison
) -> list[ComponentRow]:
    if not names or not len(state.weights) or not state.names:
        return []
    losses = comparison.component_losses or (nan,) * len(names)
    rows = [
        ComponentRow(name, float(weight), loss)
        for name, weight, loss in zip(names, component_weights(state), losses, strict=True)
    ]
    return sorted(rows, key=lambda row: -row.weight)


def _settings(recipe: MixtureSettings) -> str:
    """Return the settings in one line."""
    hedger = recipe.hedger
    if isinstance(hedger, Automatic):
        ways = f"{len(hedger.components(recipe.loss))} ways of combining"
        usual = hedger.memory == Automatic.memory
        memory = "" if usual else f", compared over {hedger.memory:g} rounds"
        loss = recipe.loss
        guard = f", guard {'on' if hedger.guard else 'off'}" if loss.forecasts.guarded else ""
        inside = ", within the forecasts" if hedger.inside else ""
        return f"auto ({ways}{memory}{guard}{inside}), loss {recipe.loss.brief}"
    return (
        f"{hedger!r}, loss {recipe.loss.brief}, {recipe.combine}"
        + (", gradient" if recipe.gradient else "")
        + (f", even {recipe.even:g}" if recipe.even else "")
        + (f", with the plain {' and '.join(recipe.include)}" if recipe.include else "")
    )


def _count_pairs(state: MixtureState, counts: Floats) -> list[tuple[str, int]]:
    """Return the experts whose count is not zero, largest first."""
    pairs = [(state.names[i], int(counts[i])) for i in np.flatnonzero(counts)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _add_stretches(totals: Floats) -> Floats:
    result: Floats = totals.sum(axis=0)
    result[sum_rows.REGRET :] = totals[:, sum_rows.REGRET :].max(axis=0)
    return result


def _experts(state: MixtureState, sums: Floats, totals: Floats) -> list[ExpertRow]:
    if not len(state.weights) or not state.names:
        return []
    automatic = isinstance(state.settings.hedger, Automatic)
    weights = expert_weights(state)
    regrets = np.full(len(weights), nan) if automatic else state.live.loss_regrets.max(axis=0)
    marks = state.live.marks
    last, since = marks[:, sum_rows.LAST].max(axis=0), marks[:, sum_rows.SINCE]
    never = np.iinfo(np.int64).max
    since = np.where(since < 0, never, since).min(axis=0)
    retired = state.retired
    rows = [
        ExpertRow(
            name,
            float(weights[i]),
            _ratio(sums[sum_rows.LOSS, i], sums[sum_rows.SCORED, i]),
            _ratio(sums[sum_rows.BLEND_LOSS, i], sums[sum_rows.SCORED, i]),
            float(regrets[i]),
            float(sums[sum_rows.AWAKE, i] / max(totals[sum_rows.ROWS], 1.0)),
            int(last[i]) if last[i] >= 0 else None,
            int(since[i]) if since[i] < never and name not in retired else None,
            name in retired,
        )
        for i, name in enumerate(state.names)
    ]
    return sorted(rows, key=lambda row: (-row.weight, 0.0 if automatic else -row.regret, row.name))


def _comparison(state: MixtureState, rows: Settled | None) -> Comparison:
    """Compare the blend with its yardsticks, over the rows of a table or of the last rounds."""
    plain = len(state.settings.include)
    if rows is None or len(state.names) == plain:
        return Comparison(str(state.settings.loss), 0, None, 0, ())
    known = ~np.isnan(rows.outcomes) & ~np.isnan(rows.blend[:, 0])
    if rows.since is not None:  # the experts of these rounds may have left since
        usable = np.abs(rows.forecasts[:, :, plain:]) < LARGEST
        known &= np.any(np.all(usable, axis=1), axis=1)
    if not known.any():
        return Comparison(str(state.settings.loss), 0, None, 0, ())
    if plain or not known.all():
        forecasts = np.ascontiguousarray(rows.forecasts[known][:, :, plain:])
        outcomes, items, blend = (part[known] for part in rows[1:4])
        rows = Settled(forecasts, outcomes, items, blend, *rows[4:])
    hedger, loss = state.settings.hedger, state.settings.loss
    corrected = isinstance(hedger, Automatic) and hedger.first_way(loss) > BASE
    return compare(rows, loss, state.names[plain:], corrected=corrected)


def last_rounds(state: MixtureState) -> Settled | None:
    """Return the rows of the history that have a prediction, and as many classes as the last."""
    kept = [settled for settled in state.history if not np.isnan(settled.round.values[:, 0]).all()]
    if not kept:
        return None
    width = kept[-1].round.values.shape[1]
    kept = [settled for settled in kept if settled.round.values.shape[1] == width]
    rounds, tables = [settled.round for settled in kept], []
    values = np.concatenate([waited.values for waited in rounds])
    outcomes = np.concatenate([settled.outcomes for settled in kept])
    items = np.concatenate([waited.items for waited in rounds])
    for waited in rounds:
        table, confidence = widen(state.live, waited.forecasts, waited.confidence)
        tables.append(table if confidence is None else np.where(confidence > 0.0, table, nan))
    return Settled(
        np.concatenate(tables),
        outcomes,
        items,
        values[:, : rounds[-1].forecasts.shape[1]],
        values[~np.isnan(values[:, 0])][-RECENT:],
        score_components(state, values, outcomes, items),
        min(waited.number for waited in rounds),
        len(rounds),
    )


def _ratio(total: float, count: float) -> float:
    return float(total / count) if count else float("nan")
