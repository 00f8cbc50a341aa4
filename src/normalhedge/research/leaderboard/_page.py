"""Show the leaderboard as tables and as a page."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from normalhedge.reports import Section, curves_plot, places_plot, sentence, write_page
from normalhedge.research.leaderboard._contests import NatureContest, PanelContest
from normalhedge.research.leaderboard._recommendation import recommend
from normalhedge.research.leaderboard._standings import PANEL_YARDSTICKS, Leaderboard, Standing
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
        fields = ("discounted_regret", "worst_discounted_regret", "ordinary_regret")
        for k, row in enumerate(rows):
            row += [_number(columns[field][k]) for field in fields]
            row += [_number(columns["regret_after_switch"][k])]
            row += [_number(1e6 * columns["seconds_per_round"][k])]
    return head, rows


def games_table(board: Leaderboard) -> Table:
    """Return the mean discounted regret of each hedger in each game; a letter names a game."""
    head = ["hedger", *letters(board)]
    rows = [
        [
            board.hedgers[h],
            *(_number(s.mean("mean")[h]) + "*" * int(s.tied[h]) for s in board.games),
        ]
        for h in board.order
    ]
    return head, rows


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
            _place(standing.ranks[h]),
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


def _place(rank: float) -> str:
    return f"{rank:g}" if math.isfinite(rank) else "-"


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
PLACES = "1 is the best; hover for the numbers. The letters are those of the games below."


def _places(board: Leaderboard) -> str:
    order = board.order
    names = [board.hedgers[h] for h in order]
    columns = [*letters(board), *(standing.contest.name for standing in board.panels)]
    places = np.array([s.ranks[order] for s in (*board.games, *board.panels)]).T
    words = [
        [
            f"{s.contest.name}: {_word(s)} {s.mean(s.contest.scores[0])[h]:.4g}"
            for s in (*board.games, *board.panels)
        ]
        for h in order
    ]
    return places_plot("places", names, columns, places, words)


def _word(standing: Standing) -> str:
    return "mean loss" if isinstance(standing.contest, PanelContest) else "mean regret"


def _game_section(k: int, standing: Standing) -> Section:
    contest = standing.contest
    assert isinstance(contest, NatureContest)
    head, rows = game_table(standing)
    aimed = " The adversary is aimed at each hedger in turn." if contest.aimed else ""
    names = {
        "best_expert": "the best expert",
        "best_quantile": f"the best {contest.settings.quantile:.0%} of the experts",
        "best_sequence": "the best sequence of experts",
    }
    earned = [(words, standing.mean(name)) for name, words in names.items()]
    found = ", ".join(
        f"{words} {np.nanmean(gains):+.3f}" for words, gains in earned if np.isfinite(gains).any()
    )
    text = (
        f"{contest.experts:,} experts, {contest.rounds:,} rounds, {contest.runs} "
        f"run{'s' * (contest.runs != 1)}.{aimed} In hindsight, a round brought {found}"
        + (" (on the mean over the hedgers)." if contest.aimed else ".")
        + " The plot: the discounted regret over the rounds, the mean of all runs. *: the best, or "
        "tied with it."
    )
    plot = curves_plot(
        f"game{k}",
        curve_rounds(contest.rounds),
        {
            name: curve
            for name, curve in zip(standing.hedgers, standing.curves, strict=True)
            if np.isfinite(curve).all()
        },
        _visible(standing),
        xaxis_title="round",
        yaxis_title="discounted regret",
        height=460,
    )
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
        "the loss of uniform weights exceeds that of a hedger, summed up over time."
    )
    advice = recommend(standing)
    if advice is not None:
        text += f" {sentence(advice.reason)} So use {advice.hedger}."
    plot = curves_plot(
        f"panel{k}",
        np.arange(standing.curves.shape[1]) * contest.rounds / standing.curves.shape[1],
        dict(zip(standing.hedgers, standing.curves, strict=True)),
        _visible(standing),
        xaxis_title="round",
        yaxis_title="loss saved",
        height=460,
    )
    return Section(f"panel{k}", contest.name, text, plot, head, rows)


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
