"""The version of the metric, which it must know where it is loaded without being installed."""

VERSION = "0.2.0"
