"""The results of a series as tables of text."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.latent.regimes._forecasting import Forecast
from normalhedge.latent.regimes._inferred import Inferred

Table = tuple[list[str], list[tuple[str, ...]]]  # the head and the rows of a table


def regime_table(found: Inferred) -> Table:
    """Return a table with a row for each regime at the end."""
    encoding = found.sequence.encoding
    shares = np.bincount(found.states[found.states >= 0], minlength=1) / max(len(found.path), 1)
    symbols = found.symbol_history[-1][1] if found.symbol_history else {}
    head = ["regime", *(f"p({word})" for word in encoding.labels)]
    for name in encoding.number_columns:
        head += [f"mean {name}".strip(), f"deviation {name}".strip()]
    head += ["mean duration", "share of rounds"]
    rows = []
    for state, what in found.parameters.items():
        cells = [f"{p:.3f}" for p in symbols.get(state, [np.nan] * len(encoding.labels))]
        if not encoding.labels:
            pairs = zip(np.ravel(what.mean), np.ravel(what.deviation), strict=True)
            cells = [f"{number:.4g}" for pair in pairs for number in pair]
        length = 1.0 / max(1.0 - what.stay, 1e-9)
        stays = f"{length:,.0f} rounds" if length >= 10.0 else f"{length:.1f} rounds"
        share = shares[state] if state < len(shares) else 0.0
        rows.append((f"state {state}", *cells, stays, f"{share:.1%}"))
    return head, rows


def forecast_table(ahead: Forecast, found: Inferred, level: float = 0.9) -> Table:
    """Return a table with a row for each of the next rounds."""
    encoding = found.sequence.encoding
    used = np.flatnonzero(ahead.probabilities.any(axis=0)).tolist()
    head = ["round", *(f"p({word})" for word in encoding.labels)]
    for name in encoding.number_columns:
        head += [f"mean {name}".strip(), f"{level:.0%} interval {name}".strip()]
    head += ["switch", *(f"state {state}" for state in used)]
    rows = []
    for step, one in enumerate(ahead):
        cells = [f"{p:.3f}" for p in one.symbols] if encoding.labels else []
        if not encoding.labels:
            edges = np.reshape(one.interval(level), (-1, 2))
            for mean, (low, high) in zip(np.ravel(one.mean), edges, strict=True):
                cells += [f"{mean:.4g}", f"{low:.4g} to {high:.4g}"]
        chances = [f"{ahead.probabilities[step, state]:.3f}" for state in used]
        rows.append((f"+{step + 1}", *cells, f"{ahead.switching[step]:.3f}", *chances))
    return head, rows


def forecast_columns(ahead: Forecast, found: Inferred, level: float = 0.9) -> dict[str, Any]:
    """Return the forecast as columns of a table."""
    encoding = found.sequence.encoding
    columns: dict[str, Any] = {"ahead": list(range(1, len(ahead) + 1))}
    if encoding.labels:
        probabilities = np.array([one.symbols for one in ahead])
        columns |= {f"p({word})": probabilities[:, k] for k, word in enumerate(encoding.labels)}
    else:
        means = ahead.means.reshape(len(ahead), -1)
        edges = ahead.interval(level).reshape(len(ahead), -1, 2)
        for k, name in enumerate(encoding.columns or ("",)):
            columns[f"mean {name}".strip()] = means[:, k]
            columns[f"low {name}".strip()] = edges[:, k, 0]
            columns[f"high {name}".strip()] = edges[:, k, 1]
    columns["switch"] = ahead.switching
    for state in np.flatnonzero(ahead.probabilities.any(axis=0)).tolist():
        columns[f"state {state}"] = ahead.probabilities[:, state]
    return columns


def score_table(found: Inferred, baselines: Mapping[str, Floats]) -> Table:
    """Return a table of mean log scores, the best first, over the rounds that all predicted."""
    scores = {"regimes": found.path.log_scores, **baselines}
    known = ~np.isnan(np.array(list(scores.values()))).any(axis=0)
    means = {name: float(one[known].mean()) for name, one in scores.items() if known.any()}
    rows: list[tuple[str, ...]] = [
        (name, f"{means[name]:.4f}", f"{means['regimes'] - means[name]:+.4f}")
        for name in sorted(means, key=lambda name: -means[name])
    ]
    return ["model", "mean log score", "lead of the regimes"], rows


def facts(found: Inferred) -> list[tuple[str, str]]:
    """Return further results as pairs of a name and a text."""
    regimes, known = found.live.regimes, found.sequence.known
    candidates = sorted(regimes.candidates().items(), key=lambda pair: -pair[1])[:3]
    support = ", ".join(f"{k}: {share:.2f}" for k, share in found.support.items())
    result = [
        ("rounds", f"{len(known):,}, {int((~known).sum()):,} of them without an observation"),
        ("weight by number of states", support),
        ("models with the largest weights", "; ".join(f"{one} ({w:.2f})" for one, w in candidates)),
    ]
    if regimes.state >= 0:
        sure = f"state {regimes.state}, with probability {regimes.probabilities.max():.3f}"
        result.append(("current regime", sure))
        result.append(("probability of a switch after this round", f"{regimes.switching:.3f}"))
    scores = found.path.log_scores[~np.isnan(found.path.log_scores)]
    if len(scores):
        result.append(("mean log score", f"{scores.mean():.4f} over {len(scores):,} rounds"))
    return result
