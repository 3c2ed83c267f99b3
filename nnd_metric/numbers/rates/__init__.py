"""Pass rates of one model: from log-likelihoods to rates, baselines, caveats and a signature."""
