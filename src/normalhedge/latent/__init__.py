"""Hidden states as experts: banks of hidden Markov models, regimes of a series, and tracking."""

from normalhedge.latent.banks.bank_state import BankRun, BankState
from normalhedge.latent.banks.bayes import BayesAverage
from normalhedge.latent.banks.builders import (
    bank_from_hmmlearn,
    categorical_bank,
    categorical_grid,
    gaussian_bank,
    gaussian_grid,
    random_categorical_bank,
    random_gaussian_bank,
)
from normalhedge.latent.banks.categorical_bank import CategoricalBank
from normalhedge.latent.banks.follow import Followed, follow
from normalhedge.latent.banks.gaussian_bank import GaussianBank
from normalhedge.latent.banks.hedging import ModelExperts, StateExperts
from normalhedge.latent.banks.hindsight import best_candidate
from normalhedge.latent.banks.hmm_bank import HMMBank
from normalhedge.latent.banks.learning_bank import LearningBank
from normalhedge.latent.banks.persistence import Persistence
from normalhedge.latent.banks.predictors import Predictor
from normalhedge.latent.regimes.forecasting import Forecast
from normalhedge.latent.regimes.infer import infer, resume
from normalhedge.latent.regimes.inferred import Inferred, Live
from normalhedge.latent.regimes.regimes import Regimes
from normalhedge.latent.tracking.tracker import HedgedTracker, ParticleFilter

__all__ = [
    "BankRun",
    "BankState",
    "BayesAverage",
    "CategoricalBank",
    "Followed",
    "Forecast",
    "GaussianBank",
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
    "bank_from_hmmlearn",
    "best_candidate",
    "categorical_bank",
    "categorical_grid",
    "follow",
    "gaussian_bank",
    "gaussian_grid",
    "infer",
    "random_categorical_bank",
    "random_gaussian_bank",
    "resume",
]
