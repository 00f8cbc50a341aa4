"""Hidden states as experts: banks of hidden Markov models, and those who predict with them."""

from normalhedge.latent.banks.follow import Followed, follow
from normalhedge.latent.banks.hmm_bank import BankRun, BankState, HMMBank
from normalhedge.latent.banks.learning_bank import LearningBank
from normalhedge.latent.banks.predictors import (
    BayesAverage,
    ModelExperts,
    Persistence,
    Predictor,
    StateExperts,
    best_candidate,
)
from normalhedge.latent.regimes.forecasting import Forecast
from normalhedge.latent.regimes.infer import Inferred, Live, infer, resume
from normalhedge.latent.regimes.regimes import Regimes
from normalhedge.latent.tracking.tracker import HedgedTracker, ParticleFilter

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
