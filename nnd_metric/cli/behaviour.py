"""How commands show their help, and how they end when they are interrupted."""

import re
import sys
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter


class Command(TyperCommand):
    """A command whose help is its docstring, with the lines `Example: nnd …` at the end.

    Typer reads help texts as markup, in which `ORG/name[@revision]` would lose its end.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(*arguments, **options)
        text, *examples = re.split(r"\s*^Example: ", self.help or "", flags=re.MULTILINE)
        paragraphs = (" ".join(each.split()) for each in text.split("\n\n"))
        self.help = _escape("\n\n".join(paragraphs))
        if examples:
            self.epilog = _escape("\n".join(["Example:", *(each.strip() for each in examples)]))
        for parameter in self.params:
            if (shown := getattr(parameter, "help", None)) is not None:
                parameter.help = _escape(shown)  # type: ignore[attr-defined]

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return the parameters; flags have no type."""
        return _untyped_flags(super().get_params(ctx))


class Group(TyperGroup):
    """The command `nnd`, of which the others are parts."""

    def invoke(self, ctx: "Context") -> Any:  # noqa: ANN401 - what the command returns
        """Run a command; if it is interrupted, say so in one line, with what the command adds."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            print("nnd: interrupted", *interrupt.args, sep="; ", file=sys.stderr)
            raise

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return the parameters; flags have no type."""
        return _untyped_flags(super().get_params(ctx))


def _untyped_flags(parameters: "list[Parameter]") -> "list[Parameter]":
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""  # else <bool>
    return parameters


def _escape(text: str) -> str:
    r"""Return a text that Rich's markup shows as it is: `[x]` would be a style, `\[x]` is not."""
    return text.replace("[", r"\[")
