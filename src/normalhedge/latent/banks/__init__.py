"""Banks of given hidden Markov models, and predictors that use them: the paper's second half."""
