"""Hidden Markov models that are fitted to data, by EM and online EM."""
