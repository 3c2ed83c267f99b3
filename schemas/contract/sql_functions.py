"""Which functions an SQL expression may use, and how much longer than its cells its texts may get.

Polars has functions that read other rows, other tables, or the clock, and it ends the process on
texts too long for its memory. So the functions of an expression are those of an allow-list, and the
growth of its texts is bounded before it is computed.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from math import prod

_TRIGONOMETRY = (
    *("sin", "cos", "tan", "cot", "asin", "acos", "atan", "atan2"),
    "degrees",
    "radians",
)
OF_ONE_ROW = frozenset(
    (
        *("abs", "cbrt", "ceil", "ceiling", "div", "exp", "floor", "ln", "log", "log10", "log1p"),
        *("log2", "mod", "pi", "pow", "power", "round", "sign", "sqrt", *_TRIGONOMETRY),
        *(f"{name}d" for name in _TRIGONOMETRY[:8]),
        *("bit_and", "bit_count", "bit_not", "bit_or", "bit_xor", "bit_length", "octet_length"),
        *("coalesce", "greatest", "least", "if", "ifnull", "nullif", "cast", "try_cast"),
        *("concat", "concat_ws", "ends_with", "starts_with", "initcap", "left", "right", "length"),
        *("char_length", "character_length", "lower", "upper", "trim", "ltrim", "rtrim", "btrim"),
        *("normalize", "regexp_like", "replace", "reverse", "split_part", "string_to_array"),
        *("strpos", "position", "substr", "substring", "array_contains", "array_get"),
        *("array_length", "array_lower", "array_upper", "array_mean", "array_reverse", "array_sum"),
        *(
            "array_to_string",
            "array_unique",
            "date",
            "date_part",
            "extract",
            "strftime",
            "strptime",
        ),
        "timestamp",
    )
)
OF_ALL_ROWS = frozenset(
    (
        *("avg", "count", "max", "mean", "median", "min", "quantile_cont", "quantile_disc"),
        *("stddev", "stdev", "stddev_samp", "stdev_samp", "sum", "variance", "var", "var_samp"),
        *("corr", "covar", "covar_samp", "covar_pop"),
    )
)
"""Aggregates, which give a number."""

_WORDS = frozenset(
    (
        *("and", "or", "not", "in", "is", "like", "ilike", "between", "case", "when", "then"),
        *("else", "as", "from", "for", "any", "all", "array", "interval", "rlike", "regexp"),
        *("varchar", "char", "character", "text", "decimal", "numeric", "float", "double", "bit"),
    )
)
"""Words of SQL that may stand before a bracket, and types."""

_TOKENS = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | --|/\*|\$ | \|\| | [^\W\d]\w* | [(),] | \S""",
    re.VERBOSE,
)
_QUERIES = ("over", "select", "distinct", "within", "qualify", "exists")
_CALLED_QUERIES = ("values", "filter")
_PREFIXES = ("e", "n", "b", "x", "u", "r", "q")
"""Letters that change what a text in quotes means."""

_GROWTH = {"string_to_array": 20.0, "split_part": 20.0, "normalize": 18.0, "strftime": 10.0}
_CASE = dict.fromkeys(("upper", "lower", "initcap"), 3.0)


def find_excluded(text: str, *, own_row: bool) -> str | None:
    """Return why an SQL expression may not be computed, or None.

    With `own_row`, an expression reads its own row only, else it may compare it with a mean or
    another aggregate over all rows.
    """
    tokens = _TOKENS.findall(text)
    for token, following in pairwise([*tokens, ""]):
        word, is_called = token.lower(), following == "(" and re.match(r'[^\W\d]|["`]', token)
        name = word.strip('"`')
        if word in ("--", "/*"):
            return "has a comment"
        if word == "$" or (word in _PREFIXES and following.startswith("'")):
            return f"has {token}{following[:1]}, a text in another notation than 'a'"
        several = is_called and own_row and name in OF_ALL_ROWS
        if several or word in _QUERIES or (is_called and word in _CALLED_QUERIES):
            return f"uses {token}, but an expression reads its own row only"
        if is_called and name not in OF_ONE_ROW | OF_ALL_ROWS | _WORDS:
            return f"uses {token}, which is not among the functions that an expression may use"
    return None


def growth_of(text: str) -> float | str:
    """Return how many times as long as the cells that it reads the texts of an expression can be.

    It is a sentence where there is no bound.
    """
    tokens = _TOKENS.findall(text)
    factors = [1.0 + tokens.count("||")]
    for at, token in enumerate(tokens):
        name = token.lower().strip('"`')
        if tokens[at + 1 : at + 2] != ["("]:
            continue
        arguments = [*_arguments(tokens[at + 2 :])]
        if name in ("concat", "concat_ws"):
            factors.append(float(len(arguments)))
        factors.append((_GROWTH | _CASE).get(name, 1.0))
        if name in ("replace", "array_to_string"):
            literals = [_literal(argument) for argument in arguments[1:]]
            if None in literals:
                return f"uses {token} with a text that is not written out, such as 'a'"
            *found, by = (len(literal or b"") for literal in literals or [b""])
            factors.append(max(1.0, by / found[0] if found and found[0] else by + 1.0))
    return prod(factors)


def _arguments(rest: list[str]) -> Iterator[list[str]]:
    """Yield the arguments of a function whose opening bracket is before some tokens."""
    depth, argument = 1, list[str]()
    for each in rest:
        depth += {"(": 1, ")": -1}.get(each, 0)
        if depth == 0:
            break
        if depth == 1 and each == ",":
            yield argument
            argument = []
        else:
            argument.append(each)
    yield argument


def _literal(argument: list[str]) -> bytes | None:
    match argument:
        case [text] if text.startswith("'"):
            return text[1:-1].replace("''", "'").encode()
    return None
