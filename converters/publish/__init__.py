"""Datasets and results on the Hub."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .dataset import Published as Published, PublishedFile as PublishedFile, publish as publish
    from .model_results import check_pushable as check_pushable, push_results as push_results
else:
    __getattr__, __dir__ = lazy_exports(__name__)
