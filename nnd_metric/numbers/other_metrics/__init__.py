"""NND compared with other metrics: how far each agrees with human judgements."""
