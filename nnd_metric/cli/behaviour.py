"""How commands show their help, and how they end when they are interrupted."""

import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from nnd.metric.cli.options import DATA, escaped, plain
from nnd.schemas import one_line

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter

    from nnd.metric.cli.verbs import Verb

_TAKES = {"--model": "models", "--data": "data"}
"""Option → what is often typed without it."""

_IS_COMMAND = "nnd: a command is named"

_SECTION = re.compile(r"\n\n?(?=(?:Args|Returns|Raises|Attributes|Examples):\n)")


class Command(TyperCommand):
    """A command whose help is the docstring of its function, with its examples at the end.

    Its options are made when they are needed: the help of `nnd` needs those of no command.
    """

    allow_extra_args = True  # `parse_args` refuses them, and names the options that take them

    def __init__(self, verb: "Verb", panel: str) -> None:
        text, *sections = _SECTION.split(verb.docstring())
        paragraphs = (plain(" ".join(each.split())) for each in text.split("\n\n"))
        super().__init__(
            verb.command,
            help=escaped("\n\n".join(filter(None, paragraphs))),
            callback=lambda **typed: self._made.callback(**typed),  # type: ignore[misc] # noqa: PLW0108
            rich_help_panel=panel,
        )
        self._verb = verb
        self._examples = [re.sub(r"(?m)^ +", "", each) for each in sections if "Examples:" in each]
        del self.params, self.epilog  # made when they are needed

    @cached_property
    def _made(self) -> TyperCommand:
        """The command as typer makes it from the function."""
        made = typer.Typer(add_completion=False)
        made.command()(self._verb.function())
        return typer.main.get_command(made)  # type: ignore[return-value] # an app of one command

    @cached_property
    def params(self) -> "list[Parameter]":  # type: ignore[override]
        """The arguments and options."""
        return self._made.params

    @cached_property
    def epilog(self) -> str:  # type: ignore[override]
        """The end of the help: examples, and what the options take."""
        explained = [DATA] if self._verb.takes_data() else []
        return escaped("\n\n".join([*self._examples, *explained]).strip())

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return the parameters; flags have no type."""
        return _untyped_flags(super().get_params(ctx))

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


class Group(TyperGroup):
    """The command `nnd`, of which the others are parts."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typer's own
        from nnd.metric.cli.commands import GROUPS

        super().__init__(**options)
        self.commands = {
            verb.command: Command(verb, panel) for panel, verbs in GROUPS.items() for verb in verbs
        }

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read a command line."""
        ctx.meta[_IS_COMMAND] = bool(args) and not args[0].startswith("-")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: "Context") -> Any:  # noqa: ANN401 - what the command returns
        """Run a command; if it is interrupted, say so in one line, with what the command adds."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            print("nnd: interrupted", *interrupt.args, sep="; ", file=sys.stderr)
            raise

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """Return the parameters; flags have no type.

        Before a command there are none; to read that they were not given loads pydantic, 70 ms.
        """
        return [] if ctx.meta.get(_IS_COMMAND) else _untyped_flags(super().get_params(ctx))


def _untyped_flags(parameters: "list[Parameter]") -> "list[Parameter]":
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""  # else <bool>
    return parameters
