"""The basis of every figure: style, text, axes, and SVG or PNG files."""
