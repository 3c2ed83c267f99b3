"""The kernels of packed attention: all of them against the formula, on rows made at random.

What runs on GPUs only is `varlen_attn` itself: here a plain loop keeps its contract, so that the
two calls, the ends they are given, and their merging are tested. FlexAttention runs as it is.
"""

import random
from typing import Any

import numpy as np
import pytest
import torch
from support.engine.varlen import loop_varlen
from torch.nn.attention import flex_attention

from nnd.metric.likelihood.engine.attention.blocks import attend_blocks
from nnd.metric.likelihood.engine.attention.flexible import TILE, attend_flexibly, seen_tiles
from nnd.metric.likelihood.engine.attention.kernel import CannotPackError, Kernel, LayerNeeds
from nnd.metric.likelihood.engine.attention.row_layout import Layout
from nnd.metric.likelihood.engine.attention.varlen import varlen_kernel

HEADS, SIZE = 4, 8


def dense(
    given: tuple[torch.Tensor, ...], seen: torch.Tensor, needs: LayerNeeds, positions: torch.Tensor
) -> torch.Tensor:
    """Attend with one mask of the whole row, as the formula says."""
    query, key, value = given
    shared = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(shared, dim=1) for each in (key, value))
    scores = query[0] @ key[0].transpose(1, 2) * (needs.scaling or query.shape[-1] ** -0.5)
    if needs.cap is not None:
        scores = needs.cap * torch.tanh(scores / needs.cap)
    if needs.bias is not None:
        distance = positions[None, :] - positions[:, None] + (needs.bias.shape[-1] - 1) // 2
        scores = scores + needs.bias[0, :, 0][:, distance]
    weights = scores.masked_fill(~seen, float("-inf")).exp()
    others = 0 if needs.sinks is None else needs.sinks.exp()[:, None, None]
    return (weights / (weights.sum(-1, keepdim=True) + others) @ value[0]).transpose(0, 1)


def made(rows: int, keys: int, key_heads: int) -> tuple[torch.Tensor, ...]:
    maker = torch.Generator().manual_seed(rows + keys)
    shapes = (HEADS, rows), (key_heads, keys), (key_heads, keys)
    return tuple(
        torch.randn((1, heads, length, SIZE), generator=maker, dtype=torch.float64)
        for heads, length in shapes
    )


def seen_of(layout: Layout, window: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return who sees whom in a row, and positions, told token by token."""
    begun = layout.beginning
    tokens = [(None, None, at) for at in range(begun)]
    tokens += [(g, None, begun + at) for g, n in enumerate(layout.contexts) for at in range(n)]
    for group, lengths in enumerate(layout.candidates):
        first = begun + layout.contexts[group] if group < len(layout.contexts) else 0
        for number, n in enumerate(lengths):
            tokens += [(group, number, first + at) for at in range(n)]
    seen = [
        [
            g in (None, group)
            and candidate in (None, number)
            and (not layout.causal or at <= position)
            and (window is None or position - at < window)
            for g, candidate, at in tokens
        ]
        for group, number, position in tokens
    ]
    return torch.tensor(seen), torch.tensor([position for _, _, position in tokens])


def layouts() -> list[Layout]:
    """Rows of a decoder-only model: of long and short, of one, and without any context."""
    found = [
        Layout([5], [[1]]),
        Layout([4, 2], [[1, 1], [1]]),
        Layout([], [[3, 2, 7]]),
        Layout([3], [[2], [6, 1]]),
    ]
    chance = random.Random(11)
    for _ in range(3):
        contexts = [chance.randint(1, 40) for _ in range(chance.randint(1, 4))]
        some = [[chance.randint(1, 12) for _ in range(chance.randint(1, 5))] for _ in contexts]
        found.append(Layout(contexts, [*some, [4, 1]] if chance.random() < 0.5 else some))
    return found


VARLEN = varlen_kernel(loop_varlen)
BEGUN = Layout([5, 1, 3], [[2, 1], [1], [4, 3]], beginning=6)
LONG = Layout([300, 2], [[200, 100, 30], [130]])  # several blocks of one context
ROWS = [
    *layouts(),
    BEGUN,
    Layout([150, 2], [[7], [3, 1]], beginning=140),
    Layout([7, 1, 40], causal=False),
]


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run FlexAttention as Python: even on a CPU it would be traced first, which takes seconds."""
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key_heads", [1, 2, HEADS])
@pytest.mark.parametrize("layout", [*ROWS, LONG])
@pytest.mark.parametrize("kernel", [attend_blocks, VARLEN])
def test_every_row_and_number_of_key_heads(kernel: Kernel, layout: Layout, key_heads: int) -> None:
    seen, positions = seen_of(layout, None)
    given = made(len(seen), len(seen), key_heads)
    for needs in (LayerNeeds(), LayerNeeds(scaling=1.0)):
        found = kernel(*given, layout, needs)
        torch.testing.assert_close(found, dense(given, seen, needs, positions))
    assert torch.equal(layout.position, positions)


@pytest.mark.parametrize(
    ("layout", "window", "biased"),
    [
        (layout, window, biased)
        for layout in ROWS
        for window in ((None, 1, 9) if layout.causal else (None,))
        for biased in (False, True)
    ],
)
def test_windows_and_biases(layout: Layout, window: int | None, *, biased: bool) -> None:
    seen, positions = seen_of(layout, window)
    given = made(len(seen), len(seen), 2)
    bias = torch.randn((1, HEADS, 1, 2 * layout.reach - 1), dtype=torch.float64) if biased else None
    needs = LayerNeeds(window=window, bias=bias)
    expected = dense(given, seen, needs, positions)
    torch.testing.assert_close(attend_blocks(*given, layout, needs), expected)
    if biased or window == 9:  # slow without a compiler
        torch.testing.assert_close(attend_flexibly(*given, layout, needs), expected)


CAP = 0.5  # of scores with a deviation of about 1
SINKS = torch.tensor([-1.0, 0.0, 1.0, 3.0], dtype=torch.float64)


@pytest.mark.parametrize(
    ("kernel", "needs"),
    [
        (attend_blocks, LayerNeeds(cap=CAP)),
        (attend_blocks, LayerNeeds(sinks=SINKS)),
        (attend_blocks, LayerNeeds(cap=CAP, sinks=SINKS, scaling=1.0)),
        (VARLEN, LayerNeeds(sinks=SINKS)),
        (attend_flexibly, LayerNeeds(cap=CAP)),
        (attend_flexibly, LayerNeeds(sinks=SINKS)),
    ],
)
@pytest.mark.parametrize(
    ("layout", "window"), [(ROWS[2], None), (ROWS[3], 3), (BEGUN, 4), (ROWS[-1], None)]
)
def test_caps_and_sinks(
    kernel: Kernel, needs: LayerNeeds, layout: Layout, window: int | None
) -> None:
    needs = needs._replace(window=None if kernel is VARLEN else window)
    seen, positions = seen_of(layout, needs.window)
    given = made(len(seen), len(seen), 2)
    expected = dense(given, seen, needs, positions)
    torch.testing.assert_close(kernel(*given, layout, needs), expected)


def test_caps_of_more_queries_than_are_held_at_once() -> None:
    needs = LayerNeeds(cap=CAP, sinks=SINKS)
    seen, positions = seen_of(LONG, None)
    given = made(len(seen), len(seen), 2)
    found = attend_blocks(*given, LONG, needs)
    torch.testing.assert_close(found, dense(given, seen, needs, positions))


@pytest.mark.parametrize("kernel", [attend_blocks, VARLEN])
def test_a_decoder_attends_to_the_encoders_row(kernel: Kernel) -> None:
    layout = Layout(candidates=[[3, 1], [2], [5, 5]], encoded=[6, 1, 4])
    given = made(16, 11, 2)
    whose = torch.tensor([0] * 4 + [1] * 2 + [2] * 10)
    seen = whose[:, None] == torch.tensor([0] * 6 + [1] + [2] * 4)
    for needs in (LayerNeeds(crossing=True), LayerNeeds(crossing=True, sinks=SINKS)):
        found = kernel(*given, layout, needs)
        torch.testing.assert_close(found, dense(given, seen, needs, whose))


@pytest.mark.parametrize("layout", [*ROWS, LONG])
def test_tiles_hold_whatever_is_seen_and_not_the_whole_row(layout: Layout) -> None:
    seen, _ = seen_of(layout, None)
    queries, keys = np.nonzero(seen.numpy())
    needed = np.zeros_like(seen_tiles(layout))
    needed[queries // TILE, keys // TILE] = True
    found = seen_tiles(layout)
    assert (found | ~needed).all()
    if layout is LONG:  # 300 2 | 200 100 30 130: the last are at 632 to 761, in tiles 4 and 5
        assert found[5].tolist() == [False, False, True, False, True, True]


def test_sums_of_another_shape_are_refused() -> None:
    def other_way(*args: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        out, sums = loop_varlen(*args, **options)
        return out, sums.T

    given = made(6, 6, HEADS)
    with pytest.raises(CannotPackError, match="shape"):
        varlen_kernel(other_way)(*given, ROWS[0], LayerNeeds())
