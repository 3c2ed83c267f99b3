"""The figures: pass rates, their differences, their agreement with human scores."""

from nnd.schemas import check_extra

check_extra("report", "matplotlib", "drawing figures")
