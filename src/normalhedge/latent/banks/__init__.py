"""Banks of given hidden Markov models, and predictors that use them: the paper's second half."""

from normalhedge.latent.banks._bank_state import BankRun, BankState
from normalhedge.latent.banks._bayes import BayesAverage
from normalhedge.latent.banks._builders import (
    bank_from_hmmlearn,
    categorical_bank,
    categorical_grid,
    gaussian_bank,
    gaussian_grid,
    random_categorical_bank,
    random_gaussian_bank,
)
from normalhedge.latent.banks._categorical_bank import CategoricalBank
from normalhedge.latent.banks._follow import Followed, follow
from normalhedge.latent.banks._gaussian_bank import GaussianBank
from normalhedge.latent.banks._hedging import ModelExperts, StateExperts
from normalhedge.latent.banks._hindsight import best_candidate
from normalhedge.latent.banks._hmm_bank import HMMBank
from normalhedge.latent.banks._learning_bank import LearningBank
from normalhedge.latent.banks._persistence import Persistence
from normalhedge.latent.banks._predictors import Predictor

__all__ = [
    "BankRun",
    "BankState",
    "BayesAverage",
    "CategoricalBank",
    "Followed",
    "GaussianBank",
    "HMMBank",
    "LearningBank",
    "ModelExperts",
    "Persistence",
    "Predictor",
    "StateExperts",
    "bank_from_hmmlearn",
    "best_candidate",
    "categorical_bank",
    "categorical_grid",
    "follow",
    "gaussian_bank",
    "gaussian_grid",
    "random_categorical_bank",
    "random_gaussian_bank",
]
