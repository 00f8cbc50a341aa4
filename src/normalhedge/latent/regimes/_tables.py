"""The results of a series as tables of text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from normalhedge.boundary.inputs import Floats
from normalhedge.boundary.terminal import counted
from normalhedge.latent.regimes._forecasting import Forecast
from normalhedge.latent.regimes._inferred import Inferred
from normalhedge.latent.regimes._surprise import PATIENCE

Table = tuple[list[str], list[tuple[str, ...]]]  # the head and the rows of a table


def regime_table(inferred: Inferred) -> Table:
    """Return a table with a row for each regime, given all rounds."""
    encoding, looked = inferred.sequence.encoding, inferred.hindsight
    head = ["regime", *(f"p({word})" for word in encoding.labels)]
    for name in encoding.number_columns:
        head += [f"mean {name}".strip(), f"deviation {name}".strip()]
    head += [f"slope of {name}" for name in encoding.given]
    head += ["mean duration", "stays", "share of rounds"]
    rows = []
    for state, parameters in looked.parameters.items():
        cells = [f"{p:.3f}" for p in looked.symbols.get(state, ())]
        if not encoding.labels:
            pairs = zip(np.ravel(parameters.mean), np.ravel(parameters.deviation), strict=True)
            cells = [f"{number:.4g}" for pair in pairs for number in pair]
        if encoding.given:
            cells += [f"{slope:.4g}" for slope in parameters.slopes]
        length = 1.0 / max(1.0 - parameters.stay, 1e-9)
        mean = f"{length:,.0f} rounds" if length >= 10.0 else f"{length:.1f} rounds"
        stays = looked.stays[state]
        share = f"{parameters.share:.1%}"
        rows.append((f"state {state}", *cells, mean if stays else "–", f"{stays:,}", share))
    return head, rows


def segment_table(inferred: Inferred) -> Table:
    """Return a table with a row for each stay of the path in hindsight."""
    columns = inferred.stays()
    columns["regime"] = [f"state {state}" for state in columns["regime"]]
    rows = zip(*columns.values(), strict=True)
    return list(columns), [tuple(_text(value) for value in row) for row in rows]


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def forecast_table(ahead: Forecast, inferred: Inferred, level: float = 0.9) -> Table:
    """Return a table with a row for each of the next rounds, with the regimes in hindsight."""
    looked = inferred.hindsight
    places = looked.fold_places(inferred.path.probabilities)
    regimes = ahead.probabilities @ np.eye(looked.probabilities.shape[1])[places]
    columns = forecast_columns(replace(ahead, probabilities=regimes), inferred, level)
    texts = {"round": [f"+{step}" for step in columns.pop("ahead")]}
    for name, values in columns.items():
        if name.startswith("low"):  # an interval has one column
            edges = zip(values, columns[f"high{name[3:]}"], strict=True)
            texts[f"{level:.0%} interval{name[3:]}"] = [f"{x:.4g} to {y:.4g}" for x, y in edges]
        elif not name.startswith("high"):
            digits = ".4g" if name.startswith("mean") else ".3f"
            texts[name] = [f"{value:{digits}}" for value in values]
    return list(texts), list(zip(*texts.values(), strict=True))


def forecast_columns(ahead: Forecast, inferred: Inferred, level: float = 0.9) -> dict[str, Any]:
    """Return the forecast as columns of a table."""
    encoding = inferred.sequence.encoding
    columns: dict[str, Any] = {"ahead": list(range(1, len(ahead) + 1))}
    if encoding.labels:
        probabilities = np.array([predictive.symbols for predictive in ahead])
        columns |= {f"p({word})": probabilities[:, k] for k, word in enumerate(encoding.labels)}
    else:
        means = ahead.means.reshape(len(ahead), -1)
        edges = ahead.interval(level).reshape(len(ahead), -1, 2)
        for k, name in enumerate(encoding.number_columns):
            columns[f"mean {name}".strip()] = means[:, k]
            columns[f"low {name}".strip()] = edges[:, k, 0]
            columns[f"high {name}".strip()] = edges[:, k, 1]
    columns["switch"] = ahead.switching
    for state in np.flatnonzero(ahead.probabilities.any(axis=0)).tolist():
        columns[f"state {state}"] = ahead.probabilities[:, state]
    return columns


def score_table(inferred: Inferred, baselines: Mapping[str, Floats]) -> Table:
    """Return a table of mean log scores, the best first, over the rounds that all predicted."""
    scores = {"regimes": inferred.path.log_scores, **baselines}
    known = ~np.isnan(np.array(list(scores.values()))).any(axis=0)
    means = {name: float(logs[known].mean()) for name, logs in scores.items() if known.any()}
    rows: list[tuple[str, ...]] = [
        (name, f"{means[name]:.4f}", f"{means['regimes'] - means[name]:+.4f}")
        for name in sorted(means, key=lambda name: -means[name])
    ]
    return ["model", "mean log score", "lead of the regimes"], rows


def facts(inferred: Inferred) -> list[tuple[str, str]]:
    """Return further results as pairs of a name and a text."""
    regimes, known = inferred.live.regimes, inferred.sequence.known
    candidates = sorted(regimes.candidates().items(), key=lambda pair: -pair[1])[:3]
    support = ", ".join(f"{k}: {share:.2f}" for k, share in inferred.support.items())
    evidence = inferred.evidence
    nats = ", ".join(f"{kind}: {lead:+.1f}" for kind, lead in list(evidence.nats.items())[1:])
    result = [
        ("how the series changes", evidence.sentence(inferred.time)),
        ("nats over one unchanging state", nats),
        ("rounds", f"{len(known):,}, {int((~known).sum()):,} of them without an observation"),
        ("weight by number of states", support),
        (
            "models with the largest weights",
            "; ".join(f"{recipe} ({w:.2f})" for recipe, w in candidates),
        ),
    ]
    if regimes.state >= 0:
        now = inferred.hindsight.fold(inferred.path.probabilities)[-1]
        sure = f"state {now.argmax()}, with probability {now.max():.3f}"
        result.append(("current regime", sure))
        result.append(("probability of a switch after this round", f"{regimes.switching:.3f}"))
    novelty, alarms = regimes.novelty, inferred.alarms
    when = [inferred.time[t] if inferred.time is not None else t for t in alarms[-5:].tolist()]
    rung = f"; the last at {', '.join(map(str, when))}" if when else ""
    result += [
        ("probability that something new has begun", f"{novelty:.3f}"),
        (
            f"alarms, false ones at most every {regimes.settings.patience or PATIENCE:,} rounds",
            f"{len(alarms)}{rung}",
        ),
    ]
    scores = inferred.path.log_scores[~np.isnan(inferred.path.log_scores)]
    if len(scores):
        result.append(
            ("mean log score", f"{scores.mean():.4f} over {counted(len(scores), 'round')}")
        )
    return result
