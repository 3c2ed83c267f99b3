"""A few example pairs or annotations, with the differing words marked."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .sentences import example_sentences as example_sentences
    from .shown import (
        Examples as Examples,
        annotation_examples as annotation_examples,
        pair_examples as pair_examples,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
