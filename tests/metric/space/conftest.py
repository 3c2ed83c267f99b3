"""The Hub that the metric is published to."""

from support.hub.fixtures import ask, hub, served

__all__ = ["ask", "hub", "served"]
