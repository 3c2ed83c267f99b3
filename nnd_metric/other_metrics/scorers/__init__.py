"""Other metrics as scorers of texts: overlap, references, likelihoods."""
