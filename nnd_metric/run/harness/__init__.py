"""Logged samples of lm-evaluation-harness: their choices, documents and verdicts."""
