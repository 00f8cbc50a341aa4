"""Banks of given hidden Markov models, and predictors that use them: the paper's second half."""

from normalhedge.latent.banks._bayes import BayesAverage as BayesAverage
from normalhedge.latent.banks._builders import (
    bank_from_hmmlearn as bank_from_hmmlearn,
    categorical_bank as categorical_bank,
    categorical_grid as categorical_grid,
    gaussian_bank as gaussian_bank,
    gaussian_grid as gaussian_grid,
    random_categorical_bank as random_categorical_bank,
    random_gaussian_bank as random_gaussian_bank,
)
from normalhedge.latent.banks._categorical_bank import CategoricalBank as CategoricalBank
from normalhedge.latent.banks._follow import (
    Followed as Followed,
    best_candidate as best_candidate,
    follow as follow,
)
from normalhedge.latent.banks._gaussian_bank import GaussianBank as GaussianBank
from normalhedge.latent.banks._hedging import (
    ModelExperts as ModelExperts,
    StateExperts as StateExperts,
)
from normalhedge.latent.banks._hmm_bank import (
    BankRun as BankRun,
    BankState as BankState,
    HMMBank as HMMBank,
)
from normalhedge.latent.banks._learning_bank import LearningBank as LearningBank
from normalhedge.latent.banks._persistence import Persistence as Persistence
from normalhedge.latent.banks._predictor import Predictor as Predictor
