"""Other libraries' games of experts, each driven by losses round by round through its own calls.

A peer is imported where it is used: none of them is needed to use or to test this package.
"""

import importlib
from typing import Any, Protocol

import numpy as np

from normalhedge.boundary.inputs import Floats


class Peer(Protocol):
    """What is played next, and a round."""

    @property
    def weights(self) -> Floats: ...

    def learn(self, losses: Floats) -> None: ...


class Sktime:
    """NormalHedgeEnsemble, shown predictions of 0, N x T, that are the losses."""

    def __init__(self, n: int) -> None:
        module = importlib.import_module("sktime.forecasting.online_learning")
        self.ensemble = module.NormalHedgeEnsemble(
            n_estimators=n, loss_func=lambda p, y: p[0] - y[0]
        )

    @property
    def weights(self) -> Floats:
        return np.asarray(self.ensemble.weights)

    def learn(self, losses: Floats) -> None:
        self.ensemble.update(losses[:, None], np.zeros(1))


class River:
    """EWARegressor, on predictions of an outcome of 0, with the absolute error for a loss."""

    def __init__(self, n: int, rate: float = 0.5) -> None:
        base, ensemble, optim = (
            importlib.import_module(f"river.{name}") for name in ("base", "ensemble", "optim")
        )

        class Column(base.Regressor):  # type: ignore[misc, name-defined]
            """Predicts what it is shown."""

            def __init__(self, name: int) -> None:
                self.name = name

            def learn_one(self, x: Any, y: Any) -> None:
                """Learn nothing."""

            def predict_one(self, x: Any) -> Any:
                return x[self.name]

        self.ewa = ensemble.EWARegressor(
            [Column(i) for i in range(n)], loss=optim.losses.Absolute(), learning_rate=rate
        )

    @property
    def weights(self) -> Floats:
        return np.asarray(self.ewa.weights)

    def learn(self, losses: Floats) -> None:
        self.ewa.learn_one(dict(enumerate(losses)), 0.0)

    def predict(self, said: Floats) -> float:
        return float(self.ewa.predict_one(dict(enumerate(said))))


class Poold:
    """AdaHedgeD, DORM or DORM+; without delay and without hints unless they are given.

    The hint is a share of delay + 1 times the last losses, or regrets, that are known.
    """

    def __init__(self, learner: str, n: int, delay: int = 0, hint: float = 0.0) -> None:
        poold = importlib.import_module("poold")
        self.learner = poold.create(learner, model_list=[f"expert {i}" for i in range(n)], T=None)
        self.repeats = hint * (delay + 1)
        self.on_regrets = learner != "adahedged"
        self.played: list[Floats] = [
            self.learner.update_and_play([], None) for _ in range(delay + 1)
        ]
        self.round = 0

    @property
    def weights(self) -> Floats:
        return self.played[-1]

    def learn(self, losses: Floats) -> None:
        told = {"fun": lambda w: float(w @ losses), "grad": lambda w: losses}  # noqa: ARG005
        known = self.played[self.round] @ losses - losses if self.on_regrets else losses
        hint = {"grad": lambda w: self.repeats * known}  # noqa: ARG005
        self.played.append(
            self.learner.update_and_play([(self.round, told)], hint if self.repeats else None)
        )
        self.round += 1


class Spiel:
    """OpenSpiel's CFR on a matrix game: regret matching of the two players, who take turns."""

    def __init__(self, payoffs: Floats, *, plus: bool) -> None:
        pyspiel = importlib.import_module("pyspiel")
        cfr = importlib.import_module("open_spiel.python.algorithms.cfr")
        game = pyspiel.create_matrix_game(payoffs.tolist(), (-payoffs).tolist())
        turns = pyspiel.convert_to_turn_based(game)
        self.solver = (cfr.CFRPlusSolver if plus else cfr.CFRSolver)(turns)

    def play(self) -> tuple[Floats, Floats]:
        rows, columns = self.solver.current_policy().action_probability_array
        return rows, columns

    def learn(self) -> None:
        self.solver.evaluate_and_update_policy()
