"""The algorithms: `init`, `play`, `step` and `run`, pure functions of a state."""

from collections.abc import Callable

from normalhedge.boundary import specs
from normalhedge.hedgers._ada_hedge import AdaHedge, AdaHedgeD, FlipFlop
from normalhedge.hedgers._arguments import read_round
from normalhedge.hedgers._batch import BatchRun, run_batch
from normalhedge.hedgers._bates_granger import BatesGranger
from normalhedge.hedgers._coin_betting import CoinBetting
from normalhedge.hedgers._compiled_hedger import CompiledHedger
from normalhedge.hedgers._excess_losses import BOA, MLPoly, MLPolyOpera, MLProd
from normalhedge.hedgers._hedge import DecreasingHedge, Hedge, OptimisticHedge
from normalhedge.hedgers._normal_hedge import NormalHedge
from normalhedge.hedgers._normal_potentials import (
    AdaNormalHedge,
    NormalHedge2009,
    NormalHedgeBH,
    NormalHedgeDT,
)
from normalhedge.hedgers._protocol import Hedger, Run, fold
from normalhedge.hedgers._regret_matching import DORM, DORMPlus, RegretMatching, RegretMatchingPlus
from normalhedge.hedgers._report import Report
from normalhedge.hedgers._sharing import FixedShare, VariableShare
from normalhedge.hedgers._squint import Squint, SquintCommon
from normalhedge.hedgers._state import State, rank as rank
from normalhedge.hedgers._yardsticks import FollowTheLeader, Uniform

HEDGERS: dict[str, Callable[..., CompiledHedger]] = {
    "normal-hedge": NormalHedge,
    "hedge": Hedge.corrected,
    "hedge-derived": Hedge.derived,
    "hedge-simulated": Hedge.simulated,
    "hedge-fixed": Hedge,
    "hedge-decreasing": DecreasingHedge,
    "normal-hedge-2009": NormalHedge2009,
    "normal-hedge-dt": NormalHedgeDT,
    "normal-hedge-bh": NormalHedgeBH,
    "ada-normal-hedge": AdaNormalHedge,
    "squint": Squint,
    "squint-common": SquintCommon,
    "ada-hedge": AdaHedge,
    "ada-hedge-d": AdaHedgeD,
    "flip-flop": FlipFlop,
    "optimistic-hedge": OptimisticHedge.tuned,
    "fixed-share": FixedShare.tuned,
    "variable-share": VariableShare.tuned,
    "ml-prod": MLProd,
    "ml-poly": MLPoly,
    "ml-poly-opera": MLPolyOpera,
    "boa": BOA,
    "bates-granger": BatesGranger,
    "regret-matching": RegretMatching,
    "rm-plus": RegretMatchingPlus,
    "dorm": DORM,
    "dorm-plus": DORMPlus,
    "coin-betting": CoinBetting,
    "follow-the-leader": FollowTheLeader,
    "uniform": Uniform,
}
"""Every hedger, by its name on the command line."""


def named(text: str, n_experts: int | None = None, *, alpha: float | None = None) -> CompiledHedger:
    """Return the hedger that ``name:key=value,...`` describes.

    Parameters
    ----------
    text
        A name of `HEDGERS`, optionally followed by settings.
    n_experts
        The number of experts, if known; some hedgers need it to tune their learning rate.
    alpha
        The discount rate to use if the text has no alpha, memory or half-life.

    Examples
    --------
    >>> named("squint", alpha=0.05)
    Squint(alpha=0.05)
    >>> named("normal-hedge:memory=50", alpha=0.05)
    NormalHedge(alpha=0.02, c=1.0)
    """
    _, settings = specs.settings_in(text, HEDGERS)
    defaults: dict[str, object] = {} if n_experts is None else {"n_experts": n_experts}
    if alpha is not None and not settings.keys() & {"memory", "half_life"}:
        defaults["alpha"] = alpha
    return specs.make("hedger", text, HEDGERS, **defaults)


__all__ = [  # noqa: RUF022 -- as `sorted` has it
    "AdaHedge",
    "AdaHedgeD",
    "AdaNormalHedge",
    "BOA",
    "BatchRun",
    "BatesGranger",
    "CoinBetting",
    "CompiledHedger",
    "DORM",
    "DORMPlus",
    "DecreasingHedge",
    "FixedShare",
    "FlipFlop",
    "FollowTheLeader",
    "HEDGERS",
    "Hedge",
    "Hedger",
    "MLPoly",
    "MLPolyOpera",
    "MLProd",
    "NormalHedge",
    "NormalHedge2009",
    "NormalHedgeBH",
    "NormalHedgeDT",
    "OptimisticHedge",
    "RegretMatching",
    "RegretMatchingPlus",
    "Report",
    "Run",
    "Squint",
    "SquintCommon",
    "State",
    "Uniform",
    "VariableShare",
    "fold",
    "named",
    "read_round",
    "run_batch",
]
