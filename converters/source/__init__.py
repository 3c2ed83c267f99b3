"""A source: its folder, its files, and where they come from."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .contradictions import (
        check_instruction as check_instruction,
        check_licence as check_licence,
    )
    from .converter_running import (
        choose_converter as choose_converter,
        say_whose_rights as say_whose_rights,
    )
    from .source import (
        BUILT_IN as BUILT_IN,
        Source as Source,
        SourceFile as SourceFile,
        built_in_names as built_in_names,
        list_sources as list_sources,
        load_source as load_source,
    )
    from .source_files import (
        Files as Files,
        find_set as find_set,
    )
    from .source_list import (
        sources as sources,
    )
    from .table.error_spans import (
        NamedText as NamedText,
        number_texts as number_texts,
    )
    from .table.nested_paths import (
        KEY as KEY,
        unfolded_keys as unfolded_keys,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
