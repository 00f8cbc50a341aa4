"""Real series, from the wheels of arch, statsmodels and vega_datasets: how well each is predicted.

Every number is causal: parameters are those of a fit to earlier rounds.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.latent import changepoint
from benchmarks.latent.rivals import Said, filtered, hmmlearn_fit
from benchmarks.latent.scores import agreement
from normalhedge.boundary.inputs import Floats
from normalhedge.latent.models._fitted import Fitted
from normalhedge.latent.models._fitting import fit
from normalhedge.latent.regimes._matching import Labels
from normalhedge.latent.regimes._regimes import Regimes

RECESSIONS = (
    (1960.25, 1961.0), (1969.75, 1970.75), (1973.75, 1975.0), (1980.0, 1980.5),
    (1981.5, 1982.75), (1990.5, 1991.0), (2001.0, 2001.75), (2007.75, 2009.25),
)  # fmt: skip
"""First and last quarters, peak to trough, by the NBER."""


class Series(NamedTuple):
    """A series, how it is looked at, and what is known of its regimes (nothing: none).

    Attributes
    ----------
    name, observations, emission
        What it is.
    first
        The first round that is judged.
    every
        Rounds between fits of the others.
    hazard
        Changes a round, for the detection of changepoints.
    truth
        Labels that people gave.
    """

    name: str
    observations: Floats
    emission: str
    first: int
    every: int
    hazard: float = 0.01
    truth: Labels | None = None
    states: int = 2


def series() -> Iterator[Series]:
    """Yield what is installed."""
    if find_spec("arch") is not None:
        prices = import_module("arch.data.sp500").load()["Adj Close"].to_numpy()
        yield Series("S&P 500, %", 100.0 * np.diff(prices) / prices[:-1], "gaussian", 1000, 250)
    if find_spec("vega_datasets") is not None:
        from vega_datasets import data  # noqa: PLC0415

        weather = data.seattle_weather()
        wet = (weather["precipitation"].to_numpy() > 0.0).astype(np.float64)
        yield Series("Seattle, wet or dry", wet, "categorical", 365, 90)
        both = weather[["temp_max", "wind"]].to_numpy(dtype=np.float64)
        yield Series("Seattle, heat and wind", both, "full", 365, 90)
    if find_spec("statsmodels") is not None:
        datasets: Any = import_module("statsmodels.datasets")
        spots = datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
        yield Series("sunspots, square root", np.sqrt(spots), "autoregressive", 100, 20)
        nile = datasets.nile.load_pandas().data
        after = (nile["year"].to_numpy() > 1898).astype(np.intp)
        flow = nile["volume"].to_numpy(dtype=np.float64)
        yield Series("Nile (dam of 1899)", flow, "gaussian", 20, 10, truth=after)
        macro = datasets.macrodata.load_pandas().data
        growth = 100.0 * np.diff(np.log(macro["realgdp"].to_numpy()))
        when = (macro["year"] + (macro["quarter"] - 1.0) / 4.0).to_numpy()[1:]
        known = np.any([(when > a) & (when <= b) for a, b in RECESSIONS], axis=0)
        truth = known.astype(np.intp)
        yield Series("US growth (NBER)", growth, "gaussian", 60, 20, truth=truth)


Follower = Callable[[Series], Said | None]


def refitted(given: Series, states: int) -> Said | None:
    """EM on all rounds so far, by hmmlearn where it has the family, then a filter."""
    rounds = len(given.observations)
    found, scores = np.zeros(rounds, dtype=np.intp), np.full(rounds, np.nan)
    model: Fitted | None = None
    rng = np.random.default_rng(0)
    start = given.first
    while start < rounds:
        stop = min(start + given.every, rounds)
        seen = given.observations[:start]
        if given.emission in {"gaussian", "full"} and find_spec("hmmlearn") is not None:
            model = hmmlearn_fit(seen, given._replace(states=states), model)  # type: ignore[arg-type]
        else:
            model = fit(seen, states, given.emission, rng=rng, starts=5, warm=model)
        said = filtered(model, given.observations[:stop])
        scores[start:stop], found[start:stop] = said.scores[start:], said.states[start:]
        start = stop
    return Said(found, scores)


def garch(given: Series, distribution: str = "normal") -> Said | None:
    """GARCH(1,1) with a constant mean, fitted to all rounds so far every 250 rounds."""
    if not given.name.startswith("S&P") or find_spec("arch") is None:
        return None
    arch: Any = import_module("arch")
    scores = np.full(len(given.observations), np.nan)
    for start in range(given.first, len(scores), given.every):
        model = arch.arch_model(given.observations, vol="GARCH", p=1, q=1, dist=distribution)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.fit(last_obs=start, disp="off")
            ahead = found.forecast(horizon=1, start=start - 1, reindex=False)
        variance = ahead.variance.to_numpy()[:, 0]
        stop = min(start + given.every, len(scores))
        v = variance[: stop - start]
        away = given.observations[start:stop] - float(found.params["mu"])
        scores[start:stop] = _standard(away / np.sqrt(v), found.params) - 0.5 * np.log(v)
    return Said(np.full(len(scores), -1), scores)


def _standard(z: Floats, params: Any) -> Floats:
    """Return the log density with variance 1: normal, or Student's t where there is nu."""
    if "nu" not in params:
        return np.asarray(-0.5 * z**2 - 0.5 * math.log(2.0 * math.pi))
    nu = float(params["nu"])
    constant = math.lgamma(0.5 * (nu + 1.0)) - math.lgamma(0.5 * nu)
    constant -= 0.5 * math.log(math.pi * (nu - 2.0))
    return np.asarray(constant - 0.5 * (nu + 1.0) * np.log1p(z**2 / (nu - 2.0)))


def markov_regression(given: Series) -> Said | None:
    """Let statsmodels fit two regimes, AR(1) for sunspots, to all rounds so far, then filter."""
    if given.emission not in {"gaussian", "autoregressive"} or find_spec("statsmodels") is None:
        return None
    place = "statsmodels.tsa.regime_switching"
    plain: Any = import_module(f"{place}.markov_regression")
    memory: Any = import_module(f"{place}.markov_autoregression")
    y, lag = given.observations, int(given.emission == "autoregressive")
    scores, states = np.full(len(y), np.nan), np.zeros(len(y), dtype=np.intp)

    def model(seen: Floats) -> Any:
        if lag:
            return memory.MarkovAutoregression(seen, 2, 1, switching_variance=True)
        return plain.MarkovRegression(seen, 2, switching_variance=True)

    start, params = given.first, None
    while start < len(y):
        stop = min(start + 2 * given.every, len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            params = searched(model(y[:start]), params)
            if params is None:
                return None
            whole = model(y[:stop]).filter(params)
        scores[start:stop] = np.asarray(whole.llf_obs)[start - lag :]
        states[start:stop] = whole.filtered_marginal_probabilities[start - lag :].argmax(axis=1)
        start = stop
    return Said(states, scores)


def searched(model: Any, last: Any) -> Any:
    """Return fitted parameters, from fewer starts where its search fails; else the last ones."""
    for starts in (20, 5, 0):
        np.random.seed(0)  # noqa: NPY002 -- its search draws from there
        try:
            return model.fit(search_reps=starts, disp=False).params
        except (RuntimeError, np.linalg.LinAlgError):
            continue
    return last


def changepoints(given: Series) -> Said | None:
    """Detect changes online."""
    if given.emission in {"categorical", "autoregressive"}:
        return None
    scores = changepoint.log_scores(given.observations, given.hazard)
    return Said(np.full(len(scores), -1), scores)


def ours(given: Series) -> Said:
    """Regimes as it is."""
    symbols = 2 if given.emission == "categorical" else None
    course = Regimes(given.emission, symbols=symbols).run(given.observations)
    return Said(course.states, course.log_scores)


FOLLOWERS: tuple[tuple[str, Follower], ...] = (
    ("EM 1", lambda given: refitted(given, 1)),
    ("EM 2", lambda given: refitted(given, 2)),
    ("EM 3", lambda given: refitted(given, 3)),
    ("statsmodels", markov_regression),
    ("changepoints", changepoints),
    ("GARCH", garch),
    ("GARCH-t", lambda given: garch(given, "t")),
    ("ours", ours),
)


def lines() -> Iterator[str]:
    """Yield a table: mean log score, and agreement in percent where there are labels."""
    yield f"{'log score':26s}" + "".join(f"{name:>13s}" for name, _ in FOLLOWERS)
    labelled = []
    for given in series():
        said = [follow(given) for _, follow in FOLLOWERS]
        scores = [_mean(one, given) for one in said]
        yield f"{given.name:26s}" + "".join(_cell(score, 4) for score in scores)
        if given.truth is not None:
            labelled.append((given, said))
    yield f"\n{'agreement with labels, %':26s}"
    for given, said in labelled:
        assert given.truth is not None
        truth = given.truth[given.first :]
        shares = [
            math.nan
            if one is None or one.states[given.first :].min() < 0
            else 100.0 * agreement(one.states[given.first :], truth)
            for one in said
        ]
        yield f"{given.name:26s}" + "".join(_cell(share, 1) for share in shares)


def _mean(said: Said | None, given: Series) -> float:
    return math.nan if said is None else float(np.mean(said.scores[given.first :]))


def _cell(value: float, digits: int) -> str:
    return f"{'':>13s}" if math.isnan(value) else f"{value:13.{digits}f}"
