"""The version of the metric, which it must know where it is loaded without being installed."""

VERSION = "0.1.0"
