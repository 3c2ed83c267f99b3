"""Extras: libraries that only some of the work needs, and that are installed on request."""

from importlib import import_module

from nnd.schemas.words.errors import MissingExtraError
from nnd.schemas.words.identity import DISTRIBUTION


def check_extra(extra: str, module: str, user: str) -> None:
    """Check that the library of an extra can be imported, before work that needs it begins.

    `user` is what needs it: the beginning of the message.

    Raises:
        MissingExtraError: If it cannot be imported; the message has the command that installs it.
    """
    try:
        import_module(module)
    except ImportError as error:
        library = module.partition(".")[0].replace("_", "-")
        raise MissingExtraError(
            "extra.missing",
            f"{user} needs the library {library} ({error})",
            remedy=f"pip install '{DISTRIBUTION}[{extra}]'",
        ) from error
