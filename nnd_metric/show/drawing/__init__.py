"""The basis of every figure: style, text, axes, and SVG or PNG files."""

from nnd.schemas import check_extra

check_extra("report", "matplotlib", "drawing figures")
