"""Hidden states as experts: banks of hidden Markov models, and those who predict with them."""

from normalhedge.latent.follow import Followed, follow
from normalhedge.latent.forecasting import Forecast
from normalhedge.latent.hmm_bank import BankRun, BankState, HMMBank
from normalhedge.latent.infer import Inferred, Live, infer, resume
from normalhedge.latent.learning_bank import LearningBank
from normalhedge.latent.predictors import (
    BayesAverage,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
)
from normalhedge.latent.regimes import Regimes
from normalhedge.latent.tracker import HedgedTracker, ParticleFilter

__all__ = [
    "BankRun",
    "BankState",
    "BayesAverage",
    "Followed",
    "Forecast",
    "HMMBank",
    "HedgedTracker",
    "Inferred",
    "LearningBank",
    "Live",
    "ModelExperts",
    "ParticleFilter",
    "Persistence",
    "Predictor",
    "Regimes",
    "StateExperts",
    "best_candidate",
    "follow",
    "infer",
    "resume",
]
