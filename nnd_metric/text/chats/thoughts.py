"""Thoughts of reasoning models: what opens one, and whether a text leaves one open."""

_MARKS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""What opens a thought → what closes it."""


def open_thought(text: str) -> str | None:
    """Return the mark of a thought that a text opens and does not close, or None."""
    return next((mark for mark, end in _MARKS.items() if text.rfind(mark) > text.rfind(end)), None)
