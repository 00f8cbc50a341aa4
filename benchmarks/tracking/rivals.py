"""What one would use else: Kalman filters, fitted and gated, several at once, and particles.

This module is long because each rival stands here with all of its settings, one after the other.
"""

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from benchmarks.tracking.cases import WARM, Case
from normalhedge.boundary.inputs import Floats
from normalhedge.latent import ParticleFilter

Z90 = 1.6448536269514722
Model = tuple[int, float, float]


class Tracked(NamedTuple):
    """Positions after and before each observation, the interval before it, microseconds each."""

    now: Floats
    ahead: Floats
    low: Floats
    high: Floats
    micros: float


class Kalman:
    """The same filter for each column, with a gate for all of them together.

    Parameters
    ----------
    model
        As in `Case`, one for each column.
    gate
        How many deviations away an observation is left out; after five in a row the filter starts
        anew there. None: no gate.
    """

    def __init__(self, models: list[Model], gate: float | None = None) -> None:
        self.order = models[0][0]
        self.r = np.array([r for _, _, r in models]) ** 2
        q = np.array([q for _, q, _ in models]) ** 2
        self.gate, self.left_out, self.log_likelihood = gate, 0, 0.0
        n = self.order
        self.f = np.triu(np.ones((n, n)))
        self.q = q[:, np.newaxis, np.newaxis] * np.ones((n, n))
        self.x = np.zeros((len(models), n))
        self.p: Floats | None = None

    def predict(self) -> None:
        """Let time pass."""
        if self.p is not None:
            self.x = self.x @ self.f.T
            self.p = self.f @ self.p @ self.f.T + self.q

    def update(self, y: Floats) -> None:
        """Learn an observation; NaN: there was none."""
        if np.isnan(y).any():
            return
        if self.p is None:
            self._start(y)
            return
        error, total = y - self.x[:, 0], self.p[:, 0, 0] + self.r
        if self.gate is not None and (error**2 / total).mean() > self.gate**2:
            self.left_out += 1
            if self.left_out >= 5:
                self._start(y)
            return
        self.left_out = 0
        self.log_likelihood -= 0.5 * float((np.log(2 * np.pi * total) + error**2 / total).sum())
        gain = self.p[:, :, 0] / total[:, np.newaxis]
        self.x = self.x + gain * error[:, np.newaxis]
        self.p = self.p - gain[:, :, np.newaxis] * self.p[:, np.newaxis, 0, :]

    def _start(self, y: Floats) -> None:
        self.left_out, n = 0, self.order
        self.x = np.zeros((len(y), n))
        self.x[:, 0] = y
        self.p = self.r[:, np.newaxis, np.newaxis] * np.diag([1.0, 1e6][:n])


def follow(case: Case, kalman: Kalman) -> Tracked:
    """Let a Kalman filter follow a track."""
    columns = case.seen.shape[1]
    now, ahead, wide = (np.full(case.seen.shape, np.nan) for _ in range(3))
    begin = time.process_time()
    for t, y in enumerate(case.seen):
        kalman.predict()
        ahead[t] = kalman.x[:, 0]
        if kalman.p is not None:
            wide[t] = np.sqrt(kalman.p[:, 0, 0] + (0.0 if case.known else kalman.r))
        kalman.update(y)
        now[t] = kalman.x[:, 0]
    assert columns
    micros = (time.process_time() - begin) / len(now) * 1e6
    return Tracked(now, ahead, ahead - Z90 * wide, ahead + Z90 * wide, micros)


def fitted(seen: Floats) -> list[Model]:
    """Return the models of greatest likelihood, of the order that all columns like best."""
    found = {}
    for order in (1, 2):
        models, value = [], 0.0
        for column in seen.T:
            steps = np.diff(column[np.isfinite(column)])
            size = np.log(np.median(np.abs(steps)) + 1e-9 * (1.0 + np.abs(steps).max()))

            def cost(at: Floats, column: Floats = column, order: int = order) -> float:
                q, r = np.exp(np.clip(at, -30.0, 30.0))
                return -_likelihood(column, (order, float(q), float(r)))

            best = min(
                (
                    minimize(
                        cost, size - np.array(o), method="Nelder-Mead", options={"maxiter": 80}
                    )
                    for o in ((1.0, 0.5), (3.0, 0.5))
                ),
                key=lambda result: float(result.fun),
            )
            q, r = np.exp(best.x)
            models.append((order, float(q), float(r)))
            value += float(best.fun)
        found[order] = (value, models)
    return min(found.values(), key=lambda pair: pair[0])[1]


def cleaned(seen: Floats) -> Floats:
    """Leave out what is far from the line of Theil and Sen through the seven around it."""
    away = np.full(seen.shape, np.nan)
    for t in range(len(seen)):
        places = np.arange(max(t - 3, 0), min(t + 4, len(seen)))
        for k, column in enumerate(seen.T):
            there = places[np.isfinite(column[places])]
            if len(there) < 4:
                continue
            one, two = np.triu_indices(len(there), 1)
            y = column[there]
            slope = np.median((y[two] - y[one]) / (there[two] - there[one]))
            away[t, k] = abs(column[t] - np.median(y - slope * (there - t)))
    usual = np.nanmedian(away, axis=0) / 0.6745
    clean = seen.copy()
    clean[(away > 6.0 * usual).any(axis=1)] = np.nan
    return clean


def _likelihood(column: Floats, model: Model) -> float:
    """Of one column: scalars, as it is asked for some hundred times."""
    order, q, r = model
    x = v = p00 = p01 = p11 = 0.0
    started, total = False, 0.0
    q2, r2 = q * q, r * r
    for y in column.tolist():
        if started:
            if order == 2:
                x += v
                p00, p01, p11 = p00 + 2 * p01 + p11 + q2, p01 + p11 + q2, p11 + q2
            else:
                p00 += q2
        if y != y:  # noqa: PLR0124
            continue
        if not started:
            started, x, p00, p11 = True, y, r2, 1e6 * r2
            continue
        s, e = p00 + r2, y - x
        total -= 0.5 * (np.log(2 * np.pi * s) + e * e / s)
        k0, k1 = p00 / s, p01 / s
        x, v = x + k0 * e, v + k1 * e
        p00, p01, p11 = p00 - k0 * p00, p01 - k0 * p01, p11 - k1 * p01
    return float(total)


def true_kalman(case: Case) -> Tracked | None:
    """Follow with the true parameters, where there are any."""
    if case.model is None:
        return None
    return follow(case, Kalman([case.model] * case.seen.shape[1]))


def fitted_kalman(case: Case) -> Tracked:
    """Follow with those of greatest likelihood on the first rounds."""
    return follow(case, Kalman(fitted(early(case))))


def gated_kalman(case: Case) -> Tracked:
    """Do the same after cleaning, with a gate at 3.5 deviations: careful practice."""
    return follow(case, Kalman(fitted(cleaned(early(case))), gate=3.5))


def told_kalman(case: Case) -> Tracked | None:
    """Do the same, fitted to the first rounds without their clutter: more than one can know."""
    if case.clean is None:
        return None
    return follow(case, Kalman(fitted(case.clean[: len(early(case))]), gate=3.5))


def statsmodels_kalman(case: Case) -> Tracked | None:
    """Fit `UnobservedComponents`, level or trend by AIC, to the first rounds of each column."""
    if find_spec("statsmodels") is None:
        return None
    import warnings  # noqa: PLC0415

    from statsmodels.tsa.statespace.structural import UnobservedComponents  # noqa: PLC0415

    now, ahead, wide = (np.full(case.seen.shape, np.nan) for _ in range(3))
    begin = time.process_time()
    for k, column in enumerate(case.seen.T):
        fits = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for kind in ("local level", "local linear trend"):
                model = UnobservedComponents(early(case)[:, k], kind)
                fits.append((model.fit(disp=False, maxiter=200), kind))
            fit, kind = min(fits, key=lambda pair: float(pair[0].aic))
            went = UnobservedComponents(column, kind).smooth(fit.params).filter_results
        now[:, k] = went.filtered_state[0]
        ahead[:, k] = went.predicted_state[0, :-1]
        noise = 0.0 if case.known else went.obs_cov[0, 0, 0]
        wide[:, k] = np.sqrt(went.predicted_state_cov[0, 0, :-1] + noise)
    micros = (time.process_time() - begin) / len(now) * 1e6
    return Tracked(now, ahead, ahead - Z90 * wide, ahead + Z90 * wide, micros)


def filterpy_imm(case: Case) -> Tracked | None:
    """Mix three gated filters of filterpy: fitted steps, and a fifth and five times of them."""
    if find_spec("filterpy") is None:
        return None
    from filterpy.kalman import IMMEstimator, KalmanFilter  # noqa: PLC0415

    models = fitted(cleaned(early(case)))
    order, columns = models[0][0], len(models)
    first = int(np.flatnonzero(np.isfinite(case.seen).all(axis=1))[0])

    def make(times: float, at: Floats) -> Any:
        kf = KalmanFilter(dim_x=order * columns, dim_z=columns)
        kf.F = np.kron(np.eye(columns), np.triu(np.ones((order, order))))
        kf.Q = np.kron(np.diag([(times * q) ** 2 for _, q, _ in models]), np.ones((order, order)))
        kf.R = np.diag([r**2 for _, _, r in models])
        kf.H = np.kron(np.eye(columns), np.eye(order)[:1])
        kf.P = np.kron(kf.R, np.diag([1.0, 1e3][:order]))
        kf.x = np.kron(at, np.eye(order)[0])[:, np.newaxis]
        return kf

    stay = np.full((3, 3), 0.025) + 0.925 * np.eye(3)

    def begun(at: Floats) -> Any:
        return IMMEstimator([make(f, at) for f in (0.2, 1.0, 5.0)], np.full(3, 1 / 3), stay)

    imm, left_out = begun(case.seen[first]), 0
    now, ahead, wide = (np.full(case.seen.shape, np.nan) for _ in range(3))
    r = np.array([m[2] for m in models]) ** 2
    begin, places = time.process_time(), np.arange(columns) * order
    for t in range(first, len(case.seen)):
        y = case.seen[t]
        imm.predict()
        ahead[t] = imm.x_prior[places, 0]
        variance = np.diag(imm.P_prior)[places]
        wide[t] = np.sqrt(variance + (0.0 if case.known else r))
        away = np.square(y - ahead[t]) / (variance + r)
        if np.isfinite(y).all() and away.mean() < 3.5**2:
            imm.update(y[:, np.newaxis])
            left_out = 0
        elif np.isfinite(y).all() and (left_out := left_out + 1) >= 5:
            imm, left_out = begun(y), 0
        now[t] = imm.x[places, 0]
    micros = (time.process_time() - begin) / len(now) * 1e6
    return Tracked(now, ahead, ahead - Z90 * wide, ahead + Z90 * wide, micros)


def particle_filter(case: Case) -> Tracked:
    """Run 1,000 particles with the fitted dynamics, 10 % of a Cauchy density in the likelihood."""
    models = fitted(cleaned(early(case)))
    order, columns = models[0][0], len(models)
    rng = np.random.default_rng(0)
    q, r = (np.array([m[i] for m in models]) for i in (1, 2))
    first = case.seen[np.isfinite(case.seen).all(axis=1)][0]
    start = first + r * rng.normal(size=(1000, columns))
    if order == 2:
        start = np.hstack([start, 5.0 * r * rng.normal(size=(1000, columns))])

    def move(paths: Floats) -> Floats:
        moved = paths.copy()
        if order == 2:
            moved[:, :columns] += moved[:, columns:]
        return moved

    def jitter(paths: Floats, draws: np.random.Generator) -> Floats:
        steps = q * draws.normal(size=(len(paths), columns))
        return paths + (np.hstack([steps, steps]) if order == 2 else steps)

    def logs(paths: Floats, y: Floats) -> Floats:
        z = (y - paths[:, :columns]) / r
        normal = (-0.5 * np.square(z) - np.log(np.sqrt(2 * np.pi) * r)).sum(axis=1)
        cauchy = -np.log(10.0 * np.pi * r * (1.0 + np.square(z / 10.0))).sum(axis=1)
        return np.asarray(np.logaddexp(np.log(0.9) + normal, np.log(0.1) + cauchy))

    pf = ParticleFilter(start, move, jitter, logs, rng)
    now, ahead, low, high = (np.full(case.seen.shape, np.nan) for _ in range(4))
    begin = time.process_time()
    for t, y in enumerate(case.seen):
        places = jitter(move(pf.paths), np.random.default_rng(t))[:, :columns]
        ahead[t] = pf.weights @ places
        shown = places if case.known else places + r * rng.normal(size=places.shape)
        for k in range(columns):
            low[t, k], high[t, k] = weighted_quantiles(shown[:, k], pf.weights)
        now[t] = pf.observe(None if np.isnan(y).any() else y)[:columns]
    micros = (time.process_time() - begin) / len(now) * 1e6
    return Tracked(now, ahead, low, high, micros)


def particles_smc(case: Case) -> Tracked | None:
    """Run the same in the library `particles`, where there is one column and the order is one."""
    if find_spec("particles") is None or case.seen.shape[1] > 1:
        return None
    order, q, r = fitted(cleaned(early(case)))[0]
    if order != 1:
        return None
    import particles  # noqa: PLC0415
    from particles import distributions as dists, state_space_models as ssm  # noqa: PLC0415

    first = float(case.seen[np.isfinite(case.seen[:, 0])][0, 0])

    class Noise(dists.Normal):  # type: ignore[misc]
        def logpdf(self, y: float) -> Floats:
            if np.isnan(y):
                return np.zeros_like(self.loc)
            z = (y - self.loc) / r
            both = (
                np.log(0.9) - 0.5 * z**2 - 0.9189,
                np.log(0.1 / 10.0 / np.pi) - np.log1p(z**2 / 100),
            )
            return np.asarray(np.logaddexp(*both))

    class Level(ssm.StateSpaceModel):  # type: ignore[misc]
        def PX0(self) -> Any:  # noqa: N802
            return dists.Normal(loc=first, scale=r)

        def PX(self, t: int, xp: Floats) -> Any:  # noqa: N802, ARG002
            return dists.Normal(loc=xp, scale=q)

        def PY(self, t: int, xp: Floats, x: Floats) -> Any:  # noqa: N802, ARG002
            return Noise(loc=x, scale=r)

    np.random.seed(0)  # noqa: NPY002
    rng = np.random.default_rng(0)
    smc = particles.SMC(fk=ssm.Bootstrap(ssm=Level(), data=case.seen[:, 0]), N=1000)
    now, ahead, low, high = (np.full(case.seen.shape, np.nan) for _ in range(4))
    begin = time.process_time()
    for t in range(len(case.seen)):
        if t:
            places = smc.X + q * rng.normal(size=1000)
            shown = places if case.known else places + r * rng.normal(size=1000)
            ahead[t] = smc.W @ smc.X
            low[t], high[t] = weighted_quantiles(shown, smc.W)
        next(smc)
        now[t] = smc.W @ smc.X
    micros = (time.process_time() - begin) / len(now) * 1e6
    return Tracked(now, ahead, low, high, micros)


def weighted_quantiles(values: Floats, weights: Floats) -> Floats:
    """Return the 5 % and 95 % points."""
    rank = np.argsort(values)
    return np.asarray(np.interp([0.05, 0.95], np.cumsum(weights[rank]), values[rank]))


def early(case: Case) -> Floats:
    """Return the rounds that rivals are fitted to."""
    return case.seen[: min(WARM, len(case.seen) // 2)]


RIVALS: dict[str, Callable[[Case], Tracked | None]] = {
    "Kalman, true parameters": true_kalman,
    "Kalman, ML": fitted_kalman,
    "Kalman, ML, cleaned, gated": gated_kalman,
    "Kalman, told the noise, gated": told_kalman,
    "statsmodels, ML": statsmodels_kalman,
    "filterpy IMM, cleaned, gated": filterpy_imm,
    "1,000 particles, ML, cleaned": particle_filter,
    "particles, the same": particles_smc,
}
