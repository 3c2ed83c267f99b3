"""The `nnd` command; each subcommand calls one public function."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .command import (
        app as app,
        main as main,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
