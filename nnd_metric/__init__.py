"""Near-Negative Distinction as a metric: likelihoods, results, agreement with humans."""
