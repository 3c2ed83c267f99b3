"""Near-Negative Distinction: give human evaluations of generated text a second life."""
