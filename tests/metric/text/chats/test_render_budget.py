"""A chat template is a stranger's program: one that loops or explodes is refused."""

import time
from typing import Any

import pytest
from support.refusals import refusal

from nnd.metric.text.chats import render_budget
from nnd.metric.text.chats.chat_options import template_excess
from nnd.metric.text.chats.chat_shape import Renderer
from nnd.metric.text.chats.render_budget import OverBudgetError, rendering_budget


class Template:
    """A tokenizer that only renders."""

    bos_token = None

    def apply_chat_template(
        self, conversation: Any, *, chat_template: str, **arguments: Any
    ) -> str:
        del arguments["tokenize"]
        from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415

        return str(
            render_jinja_template([conversation], chat_template=chat_template, **arguments)[0][0]
        )


LOOP = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}"
SLOW = [
    f"{LOOP}{'{% endfor %}' * 3}x",
    "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    f"{{% set s = namespace(n=0) %}}{LOOP}{{% set s.n = s.n + 1 %}}{'{% endfor %}' * 3}",
]


@pytest.mark.parametrize("text", SLOW, ids=["loops", "macros", "counts"])
def test_a_template_that_takes_long_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_budget, "SECONDS", 0.2)
    start = time.monotonic()
    with refusal("template.chat", "mine") as caught:
        Renderer(Template(), text, "mine", {}).shape(1)  # type: ignore[arg-type] # renders only
    assert "it takes more than 0.2 seconds" in caught.value.what
    assert time.monotonic() - start < 5


def test_a_template_that_takes_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # 32 MiB stay while the loops run, for seconds: it is the memory that ends them.
    monkeypatch.setattr(render_budget, "BYTES", 1 << 24)
    monkeypatch.setattr(render_budget, "SECONDS", 600.0)
    grows = (
        "{% set s = namespace(x='ab') %}{% for a in range(24) %}{% set s.x = s.x ~ s.x %}"
        "{% endfor %}{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
        "{% set t = s.x ~ s.x ~ s.x ~ s.x ~ s.x %}"
    )
    with refusal("template.chat", "mine") as caught:
        Renderer(Template(), grows, "mine", {}).shape(1)  # type: ignore[arg-type] # as above
    assert "it takes more than" in caught.value.what


@pytest.mark.parametrize(
    "text",
    [
        "{{ 9**9**9 }}",
        "{{ 'a' * 99999 * 99999 }}",
        "{{ 2000 * 2000 }}",
        "{% set x = 'a' * 1_048_577 %}",
        "{{ 'a'|center(999999999) }}",
    ],
)
def test_large_numbers_are_not_computed(text: str) -> None:
    assert template_excess(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ 26 * 2 }}",
        "{{ 1000 }}{{ 2024 }}{{ 2000 * 3 }}",
        "{{ messages[0] }}{{ 5000 - 3 }}",
        "{{ (1, *x) }}",
    ],
)
def test_small_ones_are(text: str) -> None:
    assert template_excess(text) is None


def test_a_block_within_its_budget_ends_as_ever() -> None:
    for _ in range(100):
        with rendering_budget():
            pass
    with pytest.raises(KeyError), rendering_budget():
        raise KeyError
    assert issubclass(OverBudgetError, Exception)
