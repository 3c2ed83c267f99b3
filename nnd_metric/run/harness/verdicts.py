"""Which choice of a sample of lm-evaluation-harness is right, by its target and by its verdicts.

The harness writes targets as text, so `"1"` is the second choice or the choice that reads 1; and
where choices differ in their contexts, as in Winogrande, the target is what follows both. But each
sample has verdicts: `acc` says whether the likeliest choice, the first one among equals, is the
right one, and `acc_norm` and `acc_bytes` the same after division by its characters or bytes. Of two
choices, a verdict tells the right one. All that is told must agree.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nnd.schemas import ScoringError, excerpt

VERDICTS: Final[Mapping[str, Callable[[str], int]]] = {
    "acc": lambda _: 1,
    "acc_norm": len,
    "acc_bytes": lambda text: len(text.encode()),
}
"""Verdict → what log-likelihoods are divided by before they are compared."""


def find_better(
    target: object,
    texts: Sequence[str],
    sums: Sequence[float],
    verdicts: Mapping[str, Any],
    *,
    same_context: bool,
    where: str,
) -> int:
    """Return the number of the right choice, 0 or 1.

    Args:
        target: The target, as the sample has it.
        texts: The text of each choice, without the delimiter.
        sums: The summed log-probability of each, in nats.
        verdicts: What the sample has under the keys of VERDICTS.
        same_context: Whether both choices follow the same context; else the harness divides by
            lengths that the sample does not hold, and only `acc` is compared.
        where: The place of the sample.

    Raises:
        ScoringError: If the target is neither choice, if a verdict contradicts it or another one,
            or if no verdict tells which of two choices the target means.
    """
    possible = _meanings(target, texts)
    if not possible:
        raise ScoringError(
            "samples.not-samples",
            f'the target "{excerpt(str(target))}" is neither 0, 1 nor one of the choices',
            where,
        )
    for name, value in verdicts.items():
        is_right = _read_verdict(name, value, where)
        likeliest = _likeliest(name, texts, sums)
        if is_right is None or likeliest is None or not (same_context or name == "acc"):
            continue
        choice = likeliest if is_right else 1 - likeliest
        if choice not in possible:
            raise ScoringError(
                "samples.contradiction",
                f"{name} is {value}, but by the log-likelihoods {sums[0]:g} and {sums[1]:g} of the "
                f'choices and the target "{excerpt(str(target))}" it is {1 - int(is_right)}',
                where,
                "log the samples again; the file was changed, or its task counts in another way",
            )
        possible = {choice}
    if len(possible) > 1:
        raise ScoringError(
            "samples.not-samples",
            f'the target "{excerpt(str(target))}" may mean either choice, and no acc tells which',
            where,
            "log the samples with the metric acc",
        )
    return possible.pop()


def _meanings(target: object, texts: Sequence[str]) -> set[int]:
    """Return the choices that a target may mean; a number that is not text is a place."""
    named = str(target).strip()
    places = {int(named)} if named in ("0", "1") else set()
    if isinstance(target, str):
        places |= {place for place, text in enumerate(texts) if text.strip() == named}
    return places


def _read_verdict(name: str, value: object, where: str) -> bool | None:
    """Return whether the choice was right; None for a share, as of tasks with several targets."""
    if isinstance(value, bool) or (isinstance(value, int | float) and 0 <= value <= 1):
        return bool(value) if value in (0, 1) else None
    raise ScoringError("samples.not-samples", f"{name} is {value!r}, not 0 or 1", where)


def _likeliest(name: str, texts: Sequence[str], sums: Sequence[float]) -> int | None:
    """Return the choice that a verdict is about; None if a text of length 0 has no mean."""
    lengths = [*map(VERDICTS[name], texts)]
    if 0 in lengths:
        return None
    first, second = (total / length for total, length in zip(sums, lengths, strict=True))
    return int(second > first)
