"""The error tree."""

import pytest

from nnd.schemas import LicenceError, NNDError, PublishError, SchemaError, SourceError, one_line


@pytest.mark.parametrize("kind", [SourceError, SchemaError, LicenceError, PublishError])
def test_every_error_of_ours_is_an_nnd_error(kind: type[NNDError]) -> None:
    assert issubclass(kind, NNDError)


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    error = SourceError("cell.unknown-value", '"foo\nbar\u2028\x85"', "a\tb", "see c\nd")

    assert str(error) == 'a\\tb: "foo\\nbar\\u2028\\x85"; see c\\nd'


def test_a_message_cannot_steer_the_terminal_or_break_the_output_encoding() -> None:
    assert one_line("\x1b[2J \ud800 \x00") == "\\x1b[2J \\ud800 \\x00"


def test_letters_of_any_script_stay() -> None:
    assert one_line("Brasília 北京 «ß» 🙂") == "Brasília 北京 «ß» 🙂"
