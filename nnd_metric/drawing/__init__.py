"""The basis of every figure: style, text, axes, and SVG or PNG files."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .grid import Entry as Entry, draw_chance as draw_chance, panels as panels
    from .marks import (
        Drawing as Drawing,
        Mark as Mark,
        line_width as line_width,
        rate_in_words as rate_in_words,
    )
    from .names import (
        short_names as short_names,
        spoken as spoken,
        visible as visible,
        whole_name as whole_name,
    )
    from .pictured import Pictured as Pictured
    from .svg import (
        png as png,
        svg_element as svg_element,
        svg_file as svg_file,
        svg_inline as svg_inline,
    )
    from .text import (
        MINUS as MINUS,
        fit as fit,
        spread as spread,
        text_width as text_width,
        widest as widest,
    )
    from .theme import (
        ABOVE as ABOVE,
        BELOW as BELOW,
        COLOURS as COLOURS,
        COLUMN as COLUMN,
        GLYPHS as GLYPHS,
        MUTED as MUTED,
        PAGE as PAGE,
        PAPER as PAPER,
        RULE as RULE,
        canvas as canvas,
        look as look,
        style as style,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
