"""Files of YAML."""

from pathlib import Path
from typing import Any

from nnd.converters.reading.text_files import read_text
from nnd.schemas import SourceError, load_yaml


def read_yaml(path: Path, *, largest: int | None = None) -> Any:  # noqa: ANN401 - as `load_yaml`
    """Return what a YAML file of at most `largest` bytes holds (see `read_text`)."""
    text = read_text(path, largest=largest)
    try:
        return load_yaml(text)
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = " ".join(str(error).split())
        what = f"not valid YAML, {type(error).__name__}: {reason}"
        raise SourceError("file.not-yaml", what, path) from error
