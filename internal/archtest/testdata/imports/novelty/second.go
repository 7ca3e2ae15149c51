package novelty
