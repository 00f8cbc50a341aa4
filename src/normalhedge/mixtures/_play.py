"""Rounds of forecasts, compiled: predict, and settle once the outcomes are known.

A round holds one or more *rows*, each a thing to be forecast: the forecasts of n experts (of k
classes each, where there are classes). An expert without a usable forecast in a row sleeps there.

**Losses become gains** here. In a row with losses l, the best of them l_min and a range s,

    g_i = 1 - 2 min((l_i - l_min) / s, 1)                      without the gradient trick
    g_i = -(u_i + u_i^2 / 2) / 1.5,                            with it; y_A is what was predicted
    u_i = clip(2 l'(y_A) (x_i - y_A) / s, -1, 1)

The square is what a large gradient costs either way: a forecaster far off is now on the one side of
the outcome and then on the other, and would be believed half of the time.

The range s is learned: see `_range`.

**Several rows** make one gain and one coverage for each expert, against what the hedger would gain
row by row with those that are awake there:

    k_i = mean_j k_ij,    g_i = sum_j k_ij (g_ij - g_Aj) / sum_j k_ij

so that an expert is compared on the rows it forecast only, and ``sum_i p_i k_i g_i = 0`` remains.

**The hedger** plays these gains; it is known here by its weights, ledger, common (its totals) and
rules only, and by the addresses of its kernels: see `normalhedge.hedgers._native`.
"""

import numpy as np

from normalhedge._inputs import LARGEST, Floats
from normalhedge._jit import STRICT, VECTOR, borrowed, kernel
from normalhedge._vector import larger
from normalhedge.hedgers._native import call_rounds, call_share, halve, scored
from normalhedge.mixtures._range import FULLEST, learn_range
from normalhedge.mixtures._sums import (
    AWAKE,
    BLEND,
    BLEND_LOSS,
    FIRST,
    LAST,
    LOG_POTENTIAL,
    LOSS,
    REGRET,
    ROWS,
    SCORED,
    SETTLED,
    SILENT,
    SINCE,
    STEPS,
    UNIFORM,
    WEIGHT,
    WILD,
    add_losses,
    add_weights,
    mark,
)
from normalhedge.mixtures.combining import combine
from normalhedge.mixtures.losses import OWN, loss_of, slope_at, write_losses

Settings = tuple[int, int, bool, float, float, int, int, int, int]
"""Loss, way to combine, gradient trick, known range or 0, the share of the weight that is spread
evenly; then where the kernels of the hedger are, see `normalhedge.hedgers._native`."""

SCRATCH = 8
"""How many rows of scratch the kernels want; `play_games` one more."""


@kernel(STRICT)
def lent(
    weights: Floats, ledger: Floats, common: Floats, rules: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a game whose references are not counted."""
    return borrowed(weights), borrowed(ledger), borrowed(common), borrowed(rules)


@kernel(VECTOR, inline=False)
def rate_experts(forecasts: Floats, confidence: Floats, rated: Floats) -> tuple[int, bool]:
    """Write the confidences, 0 where a forecast is not usable; return how many are awake.

    Also whether all of them are, with full confidence.
    """
    n = rated.size
    for i in range(n):
        rated[i] = 1.0 if abs(forecasts[0, i]) < LARGEST else 0.0
    for c in range(1, len(forecasts)):
        for i in range(n):
            rated[i] = rated[i] if abs(forecasts[c, i]) < LARGEST else 0.0
    if confidence.size > 0:
        for i in range(n):
            rated[i] *= confidence[i]
    awake = 0
    whole = 0
    for i in range(n):
        awake += 1 if rated[i] > 0.0 else 0
        whole += 1 if rated[i] == 1.0 else 0
    return awake, whole == n


@kernel(STRICT, inline=False)
def play_row(
    weights: Floats,
    scores: Floats,
    rules: Floats,
    rated: Floats,
    full: bool,
    share: int,
    played: Floats,
) -> None:
    """Write the distribution over the experts awake; the scores count only if not all are."""
    if full:
        for i in range(weights.size):
            played[i] = weights[i]
    else:
        call_share(share, weights, scores, rules, rated, played)


@kernel(STRICT, inline=False)
def predict_round(
    number: int,
    weights: Floats,
    ledger: Floats,
    common: Floats,
    rules: Floats,
    marks: np.ndarray,
    forecasts: Floats,
    confidence: Floats,
    settings: Settings,
    scratch: Floats,
    played: Floats,
    values: Floats,
    experts: Floats,
    totals: Floats,
) -> float:
    """Write the prediction of each row, NaN where nobody is awake, and what was played for it.

    ``played`` has a row for each row of the round, or one that is written over. Return how many
    forecasts were infinite so far.
    """
    weights, ledger, common, rules = lent(weights, ledger, common, rules)
    marks, forecasts, scratch = borrowed(marks), borrowed(forecasts), borrowed(scratch)
    played, values, experts = borrowed(played), borrowed(values), borrowed(experts)
    _, way, _, _, even, _, score, share, _ = settings
    n = weights.size
    rated, seen = scratch[0], scratch[5]
    seen[:n] = 0.0
    scores = weights
    ready = False
    for j in range(len(forecasts)):
        heard = played[min(j, len(played) - 1)]
        awake, full = rate_experts(forecasts[j], confidence, rated)
        totals[ROWS] += 1.0
        if not full:
            for i in range(n):
                totals[WILD] += abs(forecasts[j, 0, i]) >= LARGEST
        if awake == 0:
            values[j] = np.nan
            heard[:] = 0.0
            totals[SILENT] += 1.0
            continue
        if not (full or ready):
            scores = scored(weights, ledger, common, rules, score)
            ready = True
        play_row(weights, scores, rules, rated, full, share, heard)
        if even > 0.0:
            total = 0.0
            for i in range(n):
                total += rated[i]
            for i in range(n):
                heard[i] = (1.0 - even) * heard[i] + even * (rated[i] / total)
        combine(forecasts[j], heard, way, scratch[3], scratch[4], values[j])
        add_weights(rated, heard, seen, experts[AWAKE], experts[WEIGHT])
    mark(number, weights, seen, marks[FIRST], marks[LAST], marks[SINCE])
    return float(totals[WILD])


@kernel(VECTOR, inline=False)
def measure_row(
    forecasts: Floats,
    value: Floats,
    outcome: float,
    given: Floats,
    given_slope: float,
    level: float,
    settings: Settings,
    rated: Floats,
    losses: Floats,
    costs: Floats,
    excess: Floats,
) -> None:
    """Write the losses; what counts, linear with the gradient trick; and how far it spreads."""
    code, _, gradient, _, _, _, _, _, _ = settings
    n = rated.size
    if code == OWN:
        for i in range(n):  # a slice would compile the words of an error about its length
            losses[i] = given[i]
    else:
        write_losses(forecasts, outcome, code, level, losses)
    if gradient:
        c = int(outcome) if len(forecasts) > 1 else 0
        slope = given_slope if code == OWN else slope_at(value[c], outcome, code, level)
        for i in range(n):
            costs[i] = slope * (forecasts[c, i] - value[c]) if rated[i] > 0.0 else 0.0
            excess[i] = FULLEST * abs(costs[i])
        return
    least = -np.inf
    for i in range(n):
        least = larger(least, -losses[i] if rated[i] > 0.0 else -np.inf)
    for i in range(n):
        costs[i] = losses[i] + least if rated[i] > 0.0 else 0.0
        excess[i] = costs[i]


@kernel(VECTOR, inline=False)
def write_gains(costs: Floats, size: float, gradient: bool, gains: Floats) -> None:
    """Write gains in [-1, 1]; see the top of the file."""
    per = 1.0 / size if size > 0.0 else 0.0  # a power of two, so this is exact
    for i in range(gains.size):
        x = 2.0 * (costs[i] * per)
        if gradient:
            u = min(max(x, -1.0), 1.0)
            gains[i] = -(u + 0.5 * u * u) / 1.5
        else:
            gains[i] = 1.0 - min(x, 2.0)


@kernel(STRICT, inline=False)
def note_losses(
    forecasts: Floats,
    value: Floats,
    outcome: float,
    given: Floats,
    level: float,
    settings: Settings,
    scratch: Floats,
    experts: Floats,
    totals: Floats,
) -> None:
    """Add the losses of a row to the sums: of each expert awake, the blend and uniform weights."""
    code, way, _, _, _, _, _, _, _ = settings
    n = experts.shape[1]
    rated, losses, alike = scratch[0], scratch[1], scratch[6]
    if code == OWN:
        for i in range(n):  # a slice would compile the words of an error about its length
            losses[i] = given[i]
        blend, uniform = float(given[n]), float(given[n + 1])
    else:
        write_losses(forecasts, outcome, code, level, losses)
        plain = np.empty(value.size)
        total = 0.0
        for i in range(n):
            total += rated[i]
        for i in range(n):
            alike[i] = rated[i] / total
        combine(forecasts, alike, way, scratch[3], scratch[4], plain)
        blend = loss_of(value, outcome, code, level)
        uniform = loss_of(plain, outcome, code, level)
    totals[SETTLED] += 1.0
    totals[BLEND] += blend
    totals[UNIFORM] += uniform
    add_losses(rated, losses, blend, experts[LOSS], experts[BLEND_LOSS], experts[SCORED])


@kernel(VECTOR)
def pool(
    gains: Floats,
    rated: Floats,
    played: Floats,
    pooled: Floats,
    covered: Floats,
) -> None:
    """Add a row to the pooled gains and the coverage."""
    earned = 0.0
    for i in range(gains.size):
        earned += played[i] * gains[i]
    for i in range(gains.size):
        pooled[i] += rated[i] * (gains[i] - earned)
        covered[i] += rated[i]


@kernel(STRICT)
def finish_pool(
    known: float, pooled: Floats, covered: Floats, rated: Floats, costs: Floats
) -> bool:
    """Write the coverage, and how far each expert is behind the best; return if all is covered."""
    full = True
    best = -np.inf
    for i in range(pooled.size):
        rated[i] = covered[i] / known
        full = full and rated[i] == 1.0
        if covered[i] > 0.0:
            best = max(best, pooled[i] / covered[i])
    for i in range(pooled.size):
        costs[i] = best - pooled[i] / covered[i] if covered[i] > 0.0 else 0.0
    return full


@kernel(STRICT, inline=False)
def note_round(
    forecasts: Floats,
    confidence: Floats,
    values: Floats,
    outcomes: Floats,
    given: Floats,
    items: np.ndarray,
    levels: Floats,
    settings: Settings,
    scratch: Floats,
    experts: Floats,
    totals: Floats,
) -> None:
    """Add the losses of the rows whose outcome is known to the sums."""
    for j in range(len(outcomes)):
        if outcomes[j] == outcomes[j]:
            awake, _ = rate_experts(forecasts[j], confidence, scratch[0])
            if awake > 0:
                note_losses(
                    forecasts[j], values[j], outcomes[j], given[min(j, len(given) - 1)],
                    levels[items[j] % levels.size], settings, scratch, experts, totals,
                )  # fmt: skip


@kernel(STRICT, inline=False)
def settle_round(
    weights: Floats,
    ledger: Floats,
    common: Floats,
    rules: Floats,
    forecasts: Floats,
    confidence: Floats,
    values: Floats,
    outcomes: Floats,
    given: Floats,
    slopes: Floats,
    items: np.ndarray,
    levels: Floats,
    ranges: Floats,
    pool_range: Floats,
    settings: Settings,
    scratch: Floats,
    totals: Floats,
) -> None:
    """Play a round: rows whose outcome is NaN are left out; nothing happens if all of them are."""
    _, _, gradient, width, _, play, score, share, weigh = settings
    rated, losses, costs, excess = scratch[0], scratch[1], scratch[2], scratch[3]
    gains, pooled, covered, played = scratch[4], scratch[5], scratch[6], scratch[7]
    several = len(outcomes) > 1
    scores = scored(weights, ledger, common, rules, score) if several else weights
    rows = 0
    doubled = False
    full = False
    pooled[:] = 0.0
    covered[:] = 0.0
    for j in range(len(outcomes)):
        if outcomes[j] != outcomes[j]:
            continue
        rows += 1
        awake, full = rate_experts(forecasts[j], confidence, rated)
        if awake == 0:
            continue
        measure_row(
            forecasts[j], values[j], outcomes[j], given[min(j, len(given) - 1)],
            slopes[min(j, slopes.size - 1)], levels[items[j] % levels.size], settings, rated,
            losses, costs, excess,
        )  # fmt: skip
        learned = ranges[items[j]]
        if width > 0.0:
            learned[0] = width
        else:
            doubled = learn_range(excess, rated, weights, learned)
        write_gains(costs, learned[0], gradient, gains)
        if several:
            play_row(weights, scores, rules, rated, full, share, played)
            pool(gains, rated, played, pooled, covered)
    if rows == 0:
        return
    if several:
        full = finish_pool(1.0 * rows, pooled, covered, rated, costs)
        doubled = learn_range(costs, rated, weights, pool_range)
        write_gains(costs, pool_range[0], False, gains)
    if doubled:
        halve(weights, ledger, common, rules, score, weigh)
    record = np.empty((1, 3))
    record[0, 1] = record[0, 2] = -np.inf  # where there is none
    heard = scratch[:0] if full else scratch[:1]
    call_rounds(play, weights, ledger, common, rules, scratch[4:5], heard, record, scratch[:0])
    totals[STEPS] += 1.0
    totals[REGRET] = max(totals[REGRET], record[0, 1])
    totals[LOG_POTENTIAL] = max(totals[LOG_POTENTIAL], record[0, 2])


@kernel(STRICT, inline=False)
def update_round(
    weights: Floats,
    ledger: Floats,
    common: Floats,
    rules: Floats,
    forecasts: Floats,
    confidence: Floats,
    values: Floats,
    outcomes: Floats,
    given: Floats,
    slopes: Floats,
    items: np.ndarray,
    levels: Floats,
    ranges: Floats,
    pool_range: Floats,
    settings: Settings,
    scratch: Floats,
    experts: Floats,
    totals: Floats,
) -> None:
    """Do `note_round`, then `settle_round`."""
    weights, ledger, common, rules = lent(weights, ledger, common, rules)
    forecasts, values, outcomes = borrowed(forecasts), borrowed(values), borrowed(outcomes)
    given, slopes, items = borrowed(given), borrowed(slopes), borrowed(items)
    levels, ranges, pool_range = borrowed(levels), borrowed(ranges), borrowed(pool_range)
    scratch, experts, totals = borrowed(scratch), borrowed(experts), borrowed(totals)
    note_round(
        forecasts, confidence, values, outcomes, given, items, levels, settings, scratch, experts,
        totals,
    )  # fmt: skip
    settle_round(
        weights, ledger, common, rules, forecasts, confidence, values, outcomes, given, slopes,
        items, levels, ranges, pool_range, settings, scratch, totals,
    )  # fmt: skip


@kernel(STRICT, inline=False)
def fill_plain(forecasts: Floats, ways: np.ndarray, confidence: Floats) -> None:
    """Write the plain mean or median of the experts awake as the forecasts of the first experts."""
    _, classes, n = forecasts.shape
    m = ways.size
    rated, values, masses = np.empty(n - m), np.empty(n - m), np.empty(n - m)
    result = np.empty(classes)
    nothing = np.empty(0)
    for j in range(len(forecasts)):
        heard = nothing if confidence.size == 0 else confidence[m:]
        awake, _ = rate_experts(forecasts[j, :, m:], heard, rated)
        for i in range(n - m):
            rated[i] = 1.0 / max(awake, 1) if rated[i] > 0.0 else 0.0
        for w in range(m):
            result[:] = np.nan
            if awake > 0:
                combine(forecasts[j, :, m:], rated, ways[w], values, masses, result)
            for c in range(classes):
                forecasts[j, c, w] = result[c]


@kernel(STRICT, inline=False)
def play_games(
    games: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    settled: np.ndarray,
    rounds: np.ndarray,
    numbers: np.ndarray,
    ready: np.ndarray,
    bins: np.ndarray,
    weights: Floats,
    ledgers: Floats,
    commons: Floats,
    rules: Floats,
    marks: np.ndarray,
    forecasts: Floats,
    values: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    ranges: Floats,
    pool_ranges: Floats,
    settings: Settings,
    scratch: Floats,
    played: Floats,
    experts: Floats,
    totals: Floats,
) -> None:
    """Play games one after the other, each on the rows of its rounds.

    The game of ``games[k]`` (an entry of weights, ledgers, commons, marks and pool_ranges) predicts
    the rounds ``start[k]`` to ``stop[k]``, having settled those before ``settled[k]``, which is
    brought up to date. Round r has the rows ``rounds[r]`` to ``rounds[r + 1]`` and is called
    ``numbers[r]``; its outcomes may be used from round ``ready[r]`` on, and it is added to the sums
    of ``bins[r]``. ``played`` is empty, or gets what was played for each row.
    """
    weights, ledgers, commons = borrowed(weights), borrowed(ledgers), borrowed(commons)
    rules, marks, played = borrowed(rules), borrowed(marks), borrowed(played)
    forecasts, values, outcomes = borrowed(forecasts), borrowed(values), borrowed(outcomes)
    items, levels, ranges = borrowed(items), borrowed(levels), borrowed(ranges)
    pool_ranges, experts, totals = borrowed(pool_ranges), borrowed(experts), borrowed(totals)
    scratch = borrowed(scratch)
    heard = scratch[SCRATCH:]
    nothing = np.empty(0)
    no_rows = np.empty((1, 0))
    for k in range(len(games)):
        g = games[k]
        oldest = settled[k]
        for r in range(start[k], stop[k] + 1):
            while oldest < r and ready[oldest] <= r:
                a, b = rounds[oldest], rounds[oldest + 1]
                settle_round(
                    weights[g], ledgers[g], commons[g], rules, forecasts[a:b], nothing,
                    values[a:b], outcomes[a:b], no_rows, heard[0], items[a:b], levels, ranges,
                    pool_ranges[g], settings, scratch, totals[bins[oldest]],
                )  # fmt: skip
                oldest += 1
            if r == stop[k]:
                break
            a, b = rounds[r], rounds[r + 1]
            predict_round(
                numbers[r], weights[g], ledgers[g], commons[g], rules, marks[g], forecasts[a:b],
                nothing, settings, scratch, played[a:b] if len(played) > 0 else heard, values[a:b],
                experts[bins[r]], totals[bins[r]],
            )  # fmt: skip
            note_round(
                forecasts[a:b], nothing, values[a:b], outcomes[a:b], no_rows, items[a:b], levels,
                settings, scratch, experts[bins[r]], totals[bins[r]],
            )  # fmt: skip
        settled[k] = oldest
