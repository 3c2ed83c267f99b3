"""Log-likelihoods: requests are planned, packed, scored, proved against plain scoring, stored."""
