"""A Hub for the tests of a module, and the real clients that talk to it."""

from support.hub.fixtures import ask, hub, publisher, served

__all__ = ["ask", "hub", "publisher", "served"]
