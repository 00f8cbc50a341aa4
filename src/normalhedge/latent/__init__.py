"""Hidden states as experts: banks of hidden Markov models, and those who predict with them."""

from normalhedge.latent.hmm_bank import BankState, HMMBank
from normalhedge.latent.predictors import (
    BayesAverage,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
)

__all__ = [
    "BankState",
    "BayesAverage",
    "HMMBank",
    "ModelExperts",
    "Persistence",
    "Predictor",
    "StateExperts",
    "best_candidate",
]
