"""How commands show their help, and how they end when they are interrupted."""

import re
import sys
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from nnd.schemas import one_line

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter


_TAKES = {"--model": "models", "--data": "data"}
"""Option → what is often typed without it."""


class Command(TyperCommand):
    """A command whose help is its docstring, with the lines `Example: nnd …` at the end.

    Typer reads help texts as markup, in which `ORG/name[@revision]` would lose its end.
    """

    allow_extra_args = True  # `parse_args` refuses them, and names the options that take them

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

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read a command line.

        An option of one value that is given twice is an error: which of the two is meant? So is a
        model or data without its option; the error names the option.
        """
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in given:
            is_single = isinstance(parameter, TyperOption) and not parameter.multiple
            if is_single and given.count(parameter) > 1 and not ctx.resilient_parsing:
                ctx.fail(f"{parameter.opts[0]} is given twice; give it once")
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            options = {name for each in self.params for name in each.opts}
            named = [f"{what} with {name}" for name, what in _TAKES.items() if name in options]
            remedy = f"; name {' and '.join(named)}" if named else "; leave it out"
            ctx.fail(f'unexpected argument "{one_line(" ".join(rest))}"{remedy}')
        return rest

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
