"""Laws as checks: what every hedger, loss and router obeys, and what a mixture promises.

    from normalhedge import checks

    checks.check_hedger(MyHedger(...))                       # all laws of hedgers
    checks.LAWS["run_folds_step"](MyHedger(...))             # one of them
    checks.check_loss(MyLoss(...))                           # all laws of losses
    checks.LOSS_LAWS["the_slope_is_the_derivative"](MyLoss(...))
    checks.check_bound(Mixture("squint"), checks.NATURES["contrary"], lag=3)
    checks.check_router(Router(["a", "b"], rule="exp3-ix"))  # all laws of routers

A law of hedgers plays small games drawn by hypothesis. If a game breaks the law, it raises an
AssertionError with the smallest such game. Laws about optional methods (such as ``join``) pass if
the hedger does not have them. A hedger that cannot obey a law declares it:
``breaks = {"only_differences_matter": "the reason"}``.

A law of losses draws forecasts and outcomes of the kind of the loss, from fixed seeds. It checks
what the loss says of itself, that the core has the same loss, and that mixtures with it save, load,
bound and compare what they should. A loss of your own, ``Loss(name, function=...)``, has no part in
the core and no text.

`check_bound` lets a nature attack a mixture, computes the regret from forecasts, predictions and
outcomes alone, and compares it with `Mixture.bound` after every outcome.

`check_router` plays games with sleepers and late gains: probabilities, replays, names, order and
corrections.
"""

from normalhedge.checks._hedger_laws import BODIES, LAWS, Game, Law, check_hedger, games
from normalhedge.checks._loss_laws import LOSS_LAWS, LossLaw, check_loss
from normalhedge.checks._promises import NATURES, Nature, blocks, check_bound
from normalhedge.checks._router_laws import ROUTER_LAWS, RouterLaw, check_router

__all__ = [
    "BODIES",
    "LAWS",
    "LOSS_LAWS",
    "NATURES",
    "ROUTER_LAWS",
    "Game",
    "Law",
    "LossLaw",
    "Nature",
    "RouterLaw",
    "blocks",
    "check_bound",
    "check_hedger",
    "check_loss",
    "check_router",
    "games",
]
