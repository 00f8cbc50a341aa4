"""Banks of given hidden Markov models, and those who predict with them: the paper's second half."""
