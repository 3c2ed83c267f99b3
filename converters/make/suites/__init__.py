"""Suites from definitions: perturbations, slices, samples and hand-made sets of one source."""
