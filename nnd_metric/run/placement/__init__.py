"""Where the models of a sweep are scored: one after the other, or side by side on several GPUs."""
