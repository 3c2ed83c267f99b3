"""The version of the metric, which must be known even if the metric is not installed."""

VERSION = "0.3.0"
