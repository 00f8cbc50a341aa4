"""Show the leaderboard as tables and as a page."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from normalhedge.reports import Section, curves_plot, places_plot, sentence, write_page
from normalhedge.research.leaderboard._contests import NatureContest, PanelContest
from normalhedge.research.leaderboard._standings import (
    PANEL_YARDSTICKS,
    Leaderboard,
    Standing,
    recommend,
)
from normalhedge.research.leaderboard._yardsticks import curve_rounds

VISIBLE = 6
"""The number of curves that are visible at first; the legend shows the others."""

FAR = 4.0
"""Even weights are drawn only if their curve is at most so many times as high as the others."""

Table = tuple[list[str], list[list[str]]]
"""The head and the rows of a table."""


def overall_table(board: Leaderboard) -> Table:
    """Return the leaderboard, the best hedger first."""
    columns = board.overall()
    head = ["hedger", "place", "best"]
    rows = [
        [str(name), _number(rank), f"{best}/{contests}"]
        for name, rank, best, contests in zip(
            *(columns[k] for k in ("hedger", "mean_rank", "best_or_tied", "contests")), strict=True
        )
    ]
    if board.games:
        head += ["regret", "worst", "ordinary", "switch", "µs"]
        *regrets, seconds = list(columns.values())[4:]  # in the order of this head
        for k, row in enumerate(rows):
            row += [_number(values[k]) for values in (*regrets, 1e6 * seconds)]
    return head, rows


def games_table(board: Leaderboard) -> Table:
    """Return the mean discounted regret of each hedger in each game; a letter names a game."""
    columns = [
        [_number(mean) + "*" * int(tied) for mean, tied in zip(s.mean("mean"), s.tied, strict=True)]
        for s in board.games
    ]
    rows = [[board.hedgers[h], *(column[h] for column in columns)] for h in board.order]
    return ["hedger", *letters(board)], rows


def letters(board: Leaderboard) -> dict[str, str]:
    """Return the name of each game by its letter in narrow tables."""
    return {_letter(k): standing.contest.name for k, standing in enumerate(board.games)}


def _letter(k: int) -> str:
    return chr(ord("A") + k) if k < 26 else f"#{k}"


def game_table(standing: Standing) -> Table:
    """Return the scores of one game, the best hedger first."""
    head = ["hedger", "place", "regret, mean", "worst", "ordinary", "to a quantile",
            "to a sequence", "after a switch", "µs a round"]  # fmt: skip
    error = standing.error("mean")
    means = {name: standing.mean(name) for name in standing.contest.scores}
    rows = [
        [
            standing.hedgers[h] + " *" * bool(standing.tied[h]),
            f"{standing.ranks[h]:g}" if math.isfinite(standing.ranks[h]) else "-",
            _number(means["mean"][h]) + (f" ± {error[h]:.2g}" if error[h] > 1e-4 else ""),
            _number(standing.worst("worst")[h]),
            *(_number(means[name][h]) for name in ("ordinary", "quantile", "sequence", "after")),
            _number(1e6 * means["seconds"][h]),
        ]
        for h in _order(standing)
    ]
    return head, rows


def _order(standing: Standing) -> np.ndarray:
    """Return the numbers of the hedgers, from the best on, by their first score."""
    return np.argsort(standing.mean(standing.contest.scores[0]), kind="stable")


def panel_table(standing: Standing) -> Table:
    """Return the losses on one panel, of hedgers and yardsticks, the smallest loss first."""
    head = ["", "mean loss", "of uniform", "own regret", "µs a row"]
    uniform = standing.yardsticks["uniform"]
    worst, seconds = standing.mean("worst"), standing.mean("seconds")
    entries = [
        (float(loss), name, _number(worst[h]), _number(1e6 * seconds[h]))
        for h, (name, loss) in enumerate(zip(standing.hedgers, standing.mean("loss"), strict=True))
    ]
    entries += [
        (loss, PANEL_YARDSTICKS[name] + (", in hindsight" if name != "uniform" else ""), "", "")
        for name, loss in standing.yardsticks.items()
        if math.isfinite(loss)
    ]
    rows = [
        [name, f"{loss:.5g}", f"{loss / uniform:.1%}" if uniform else "-", regret, micros]
        for loss, name, regret, micros in sorted(entries, key=lambda entry: entry[0])
    ]
    return head, rows


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def write_leaderboard(
    path: Path, board: Leaderboard, *, command: str, settings: Mapping[str, object]
) -> None:
    """Write the page: the leaderboard, then a section for every game and every panel."""
    head, rows = overall_table(board)
    sections = [
        Section("leaderboard", "The leaderboard", OVERALL, head=head, rows=rows),
        Section("places", "Who came where", PLACES, _places(board)),
    ]
    sections += [_game_section(k, standing) for k, standing in enumerate(board.games)]
    sections += [_panel_section(k, standing) for k, standing in enumerate(board.panels)]
    count = len(board.standings)
    write_page(
        path,
        title="The leaderboard",
        subtitle=f"{len(board.hedgers)} hedgers in {count} contest{'s' * (count != 1)}. Regrets "
        "are in gains, which lie in [-1, 1].",
        claims=[],
        sections=sections,
        command=command,
        settings=settings,
    )


OVERALL = (
    "Place: the mean over all contests; it goes by the mean discounted regret to the best expert "
    "in games, and by the mean loss on panels. Best: where it was the best, or within two standard "
    "errors of it, run by run on the same gains. Regret: discounted at the rate of the game, "
    "whatever the hedger itself keeps account of; its mean over all rounds and games, then its "
    "worst in any. Ordinary: what the best fixed expert of a whole game gained more, below zero "
    "where the hedger did better by changing. Switch: what the best expert of the stretch after a "
    "switch gained more in it. µs: processor time of one round, where many are played at once."
)
PLACES = "1 is the best; hover for the numbers. The letters name the games below."


def _places(board: Leaderboard) -> str:
    names = [board.hedgers[h] for h in board.order]
    columns = [*letters(board), *(standing.contest.name for standing in board.panels)]
    places, words = [], []
    for standing in (*board.games, *board.panels):
        contest, means = standing.contest, standing.mean(standing.contest.scores[0])
        kind = "mean loss" if isinstance(contest, PanelContest) else "mean regret"
        places.append(standing.ranks[board.order])
        words.append([f"{contest.name}: {kind} {means[h]:.4g}" for h in board.order])
    rows = [list(row) for row in zip(*words, strict=True)]
    return places_plot("places", names, columns, np.array(places).T, rows)


def _game_section(k: int, standing: Standing) -> Section:
    contest = standing.contest
    assert isinstance(contest, NatureContest)
    head, rows = game_table(standing)
    aimed = " The adversary is aimed at each hedger in turn." if contest.aimed else ""
    names = {
        "the best expert": standing.mean("best_expert"),
        f"the best {contest.settings.quantile:.0%} of the experts": standing.mean("best_quantile"),
        "the best sequence of experts": standing.mean("best_sequence"),
    }
    best = ", ".join(
        f"{name} {np.nanmean(gains):+.3f}"
        for name, gains in names.items()
        if np.isfinite(gains).any()
    )
    text = (
        f"{contest.experts:,} experts, {contest.rounds:,} rounds, {contest.runs} "
        f"run{'s' * (contest.runs != 1)}.{aimed} In hindsight, a round brought {best}"
        + (" (on the mean over the hedgers)." if contest.aimed else ".")
        + " The plot: the discounted regret over the rounds, the mean of all runs. *: the best, or "
        "tied with it."
    )
    plot = _plot(f"game{k}", standing, curve_rounds(contest.rounds), "discounted regret")
    return Section(f"game{k}", f"{_letter(k)}. {contest.name}", text, plot, head, rows)


def _panel_section(k: int, standing: Standing) -> Section:
    contest = standing.contest
    assert isinstance(contest, PanelContest)
    head, rows = panel_table(standing)
    text = (
        (f"Guessed: {'; '.join(contest.notes)}. " if contest.notes else "")
        + f"{contest.experts:,} experts, {contest.rounds:,} rounds, loss {contest.loss}; hedgers "
        f"that forget do so over {contest.memory:g} rounds. In hindsight, for each series by "
        f"itself: the best expert, what a share of {contest.quantile:.0%} of them reaches, the "
        f"best convex combination and the best sequence with {contest.switches} switches; "
        "who sleeps is replaced by even weights. Own regret: the largest in the hedger's own "
        "account, at its own rate of discount, in units of the loss. The plot: by how much "
        "the loss of uniform weights exceeds the hedger's, summed up over time."
    )
    advice = recommend(standing)
    if advice is not None:
        text += f" {sentence(advice.reason)} So use {advice.hedger}."
    points = standing.curves.shape[1]
    plot = _plot(f"panel{k}", standing, np.arange(points) * contest.rounds / points, "loss saved")
    return Section(f"panel{k}", contest.name, text, plot, head, rows)


def _plot(name: str, standing: Standing, rounds: np.ndarray, title: str) -> str:
    """Return the plot of the curves of all hedgers that took part."""
    curves = dict(zip(standing.hedgers, standing.curves, strict=True))
    curves = {hedger: curve for hedger, curve in curves.items() if np.isfinite(curve).all()}
    titles = {"xaxis_title": "round", "yaxis_title": title}
    return curves_plot(name, rounds, curves, _visible(standing), **titles, height=460)


def _visible(standing: Standing) -> Sequence[str]:
    """Return the hedgers with visible curves: the first few, NormalHedge and even weights.

    Even weights are left out if the other curves could not be seen beside them.
    """
    order = _order(standing)
    first = [standing.hedgers[h] for h in order[:VISIBLE]] + ["normal-hedge"]
    curves = dict(zip(standing.hedgers, standing.curves, strict=True))
    widest = max(np.abs(curves[name]).max() for name in first if name in curves)
    if "uniform" in curves and np.abs(curves["uniform"]).max() <= FAR * widest:
        first.append("uniform")
    return first
