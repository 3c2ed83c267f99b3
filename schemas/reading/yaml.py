"""Safe YAML: limited in size, without duplicate keys, and with 1:30, on and no as texts."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer

from nnd.schemas.reading.limits import YAML_VALUES
from nnd.schemas.reading.text_files import read_text
from nnd.schemas.words.errors import SourceError


def load_yaml(text: str) -> Any:  # noqa: ANN401 - whatever the YAML holds
    """Return what a YAML document holds.

    Raises:
        yaml.YAMLError: If it is not YAML, has a key twice, or has more values than the limit,
            where an alias counts as all its values: ten lines of aliases may hold millions.
        Exception: Other errors of PyYAML, such as ValueError and KeyError.
    """
    return yaml.load(text, _Loader)  # noqa: S506 - _Loader is a SafeLoader


def read_yaml(path: Path, *, largest: int | None = None) -> Any:  # noqa: ANN401 - as `load_yaml`
    """Return what a YAML file of at most `largest` bytes holds (see `read_text`)."""
    text = read_text(path, largest=largest)
    try:
        return load_yaml(text)
    except Exception as error:  # PyYAML lets ValueError, KeyError and others through
        reason = " ".join(str(error).split())
        what = f"not valid YAML, {type(error).__name__}: {reason}"
        raise SourceError("file.not-yaml", what, path) from error


def line_finder(text: str) -> Callable[[Sequence[int | str]], int]:
    """Return a function that finds the line of a key or an entry, or of the nearest parent.

    It takes the keys and entry numbers that lead to it from the top of the YAML document; a number
    may be a text of digits. The document is parsed once, whatever is asked.
    """
    top = yaml.compose(text, _Loader)

    def find(place: Sequence[int | str]) -> int:
        node, line = top, 0
        for step in place:
            if isinstance(node, yaml.SequenceNode):
                node = node.value[int(step)]
                line = node.start_mark.line
            elif isinstance(node, yaml.MappingNode):
                found = next(((key, value) for key, value in node.value if key.value == step), None)
                if found is None:  # it is missing, or comes from an alias
                    break
                key, node = found
                line = key.start_mark.line
        return line + 1

    return find


if TYPE_CHECKING or yaml.__with_libyaml__:

    class _YamlReader(Composer, yaml.CSafeLoader):
        """Parses with libyaml, five times as fast as PyYAML, and composes with PyYAML."""

        def __init__(self, stream: str) -> None:
            Composer.__init__(self)
            yaml.CSafeLoader.__init__(self, stream)
else:
    _YamlReader = yaml.SafeLoader


class _Loader(_YamlReader):
    values = 0  # the values of aliases count each time
    sizes: Mapping[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()
        before = self.values
        node = super().compose_node(parent, index)
        is_alias = isinstance(event, yaml.AliasEvent)
        self.values += self.sizes[event.anchor] if is_alias else 1
        if event.anchor is not None and not is_alias:
            self.sizes = {**self.sizes, event.anchor: self.values - before}
        if self.values > YAML_VALUES.usual and self.values > YAML_VALUES.most:
            raise yaml.composer.ComposerError(
                None,
                None,
                f"more than {YAML_VALUES} up to here",
                event.start_mark,
            )
        return node

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as PyYAML has it
    ) -> dict[Hashable, Any]:
        found: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in found:
                raise yaml.constructor.ConstructorError(
                    None, None, f'the key "{key.value}" occurs twice; keep one', key.start_mark
                )
            if isinstance(key, yaml.ScalarNode):
                found.add(key.value)
        return super().construct_mapping(node, deep=deep)

    def construct_yaml_bool(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - or a text
        """Return on, off, yes and no as texts, as in YAML 1.2."""
        is_text = node.value.lower() in {"on", "off", "yes", "no"}
        return str(node.value) if is_text else super().construct_yaml_bool(node)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - a number or a text
        return _base_60_as_text(node) or super().construct_yaml_int(node)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - as above
        return _base_60_as_text(node) or super().construct_yaml_float(node)


def _base_60_as_text(node: yaml.ScalarNode) -> str | None:
    """Return 1:30 as a text, as in YAML 1.2; YAML 1.1 and PyYAML read it as 90."""
    return str(node.value) if ":" in node.value else None


_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_yaml_bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
