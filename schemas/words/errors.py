"""The error tree.

NNDError
├── SourceError      an annotation file or source folder is not what it should be
├── SchemaError      data does not keep the contract
├── LicenceError     the licence does not allow what was asked
├── PublishError     the Hub did not take what was sent
└── ScoringError     a model, its data or an option of a scoring run cannot be used
    ├── CandidateError      one candidate cannot be scored
    └── MissingExtraError   a library is not installed that only some of the work needs
"""

from collections.abc import Collection, Iterable
from unicodedata import category

from nnd.schemas.words.error_codes import REMEDIES
from nnd.schemas.words.texts import did_you_mean, listed

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_HARMLESS = "\n\t\u200c\u200d"
_MOST_KNOWN = 40  # a table may have a thousand columns


def one_line(text: str) -> str:
    """Return `text` on one line, with invisible characters written as escapes.

    Messages quote names and texts from files, which may hold line breaks or terminal codes.
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def visible(text: str) -> str:
    """Return `text` with control and format characters, such as U+202E, written as escapes.

    They would change how a terminal shows what follows. Line breaks, tabs and the joiners of
    scripts and emoji stay.
    """
    if text.isprintable():
        return text
    return "".join(
        ascii(char)[1:-1] if category(char) in _UNSEEN and char not in _HARMLESS else char
        for char in text
    )


class NNDError(Exception):
    """Base of every error that a user can cause: where, what is wrong, and what to do about it.

    Args:
        code: Name of what to do, a key of `REMEDIES`. Sentences change, codes do not.
        what: What is wrong; empty if the remedy says it.
        where: File and line, row, option or name at fault; empty if there is none.
        remedy: What to do; that of the code if empty.
    """

    def __init__(self, code: str, what: str = "", where: object = "", remedy: str = "") -> None:
        super().__init__(code, what, str(where), remedy)
        self.code = code
        self.what = what
        self.where = str(where)
        self.remedy = remedy or REMEDIES[code]

    def __str__(self) -> str:
        # Other libraries, which some faults quote, end their messages with a full stop.
        sentence = "; ".join(filter(None, (self.what.removesuffix("."), self.remedy)))
        return one_line(": ".join(filter(None, (self.where, sentence))))

    def inside(self, place: object, family: "type[NNDError] | None" = None) -> "NNDError":
        """Return this error with the place around its own, such as the file of an entry.

        `family` is the type of the new error; None: that of this one.
        """
        where = ": ".join(filter(None, (str(place), self.where)))
        return (family or type(self))(self.code, self.what, where, self.remedy)

    def to_dict(self) -> dict[str, str]:
        """Return what `--json` shows."""
        fields = {"code": self.code, "where": self.where, "what": self.what, "remedy": self.remedy}
        return {name: one_line(text) for name, text in fields.items()}


class SourceError(NNDError):
    """An annotation file, or the folder that describes it, is not what it should be."""


class SchemaError(NNDError):
    """Data does not keep the contract."""


class LicenceError(NNDError):
    """The licence of a source does not allow what was asked."""


class PublishError(NNDError):
    """The Hub did not take what was sent."""


class ScoringError(NNDError, ValueError):
    """A model, its data or an option of a scoring run cannot be used."""


class CandidateError(ScoringError):
    """A candidate cannot be scored; a caller that knows the pairs can name its pair.

    `candidate` is the text that the engine received.
    """

    def __init__(self, what: str, where: object, candidate: str) -> None:
        super().__init__("candidate.too-long", what, where)
        self.args = (what, where, candidate)
        self.candidate = candidate


class MissingExtraError(ScoringError):
    """A library is not installed that only some of the work needs."""


class ScoringWarning(UserWarning):
    """The numbers are as requested, but something else is not."""


def check_known(
    what: str,
    names: Iterable[str],
    known: Collection[str],
    where: object = "",
    *,
    code: str = "name.unknown",
    family: type[NNDError] = NNDError,
) -> None:
    """Raise an error at the first name that is not known, which says what is.

    `what` says what is named, such as "protocol"; `family` is the type of the error.
    """
    for name in names:
        if name not in known:
            unknown = f'unknown {what} "{name}"{did_you_mean(name, known)}'
            remedy = f"known: {listed([*known], _MOST_KNOWN) or 'none'}"
            raise family(code, unknown, where, remedy)
