"""The Hub that models are on."""

from support.hub.fixtures import ask, hub, served

__all__ = ["ask", "hub", "served"]
