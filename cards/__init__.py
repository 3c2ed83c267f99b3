"""Data, metric and model cards: written from what was computed."""

from typing import TYPE_CHECKING

from nnd.schemas.lazy import lazy_exports

if TYPE_CHECKING:
    from .asked import ASKED as ASKED, example_request as example_request
    from .bibtex import entries_in as entries_in, faults_of as faults_of
    from .card_file import DataCard as DataCard, card as card
    from .content import Content as Content, read_content as read_content
    from .dataset import data_card as data_card, read_card as read_card, write_card as write_card
    from .front_matter import configs as configs, metadata as metadata
    from .manifest import check_form as check_form
    from .markdown import (
        Table as Table,
        escape as escape,
        fence as fence,
        render_table as render_table,
        table_cell as table_cell,
    )
    from .marks import merge_card as merge_card
    from .metric import metric_card as metric_card, metric_page as metric_page
    from .model import (
        ScoredOn as ScoredOn,
        add_results as add_results,
        results_file as results_file,
    )
    from .parse import (
        Card as Card,
        Rows as Rows,
        anchor_of as anchor_of,
        links_in as links_in,
        parse_card as parse_card,
        tables_in as tables_in,
    )
    from .sentences import (
        card_sentences as card_sentences,
        count_differences as count_differences,
        length_rates as length_rates,
        length_warning as length_warning,
    )
    from .tables import SUITE as SUITE, card_tables as card_tables
    from .validity import MADE_PAIRS as MADE_PAIRS, check_validity as check_validity
    from .vocabulary import (
        ANNOTATORS as ANNOTATORS,
        LICENCES as LICENCES,
        SOURCE_DATASET as SOURCE_DATASET,
        TASK_CATEGORIES as TASK_CATEGORIES,
        hub_licence as hub_licence,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
