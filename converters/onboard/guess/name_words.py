"""Words in the names of columns, labels and scales, on which guesses are based.

`yes`, or a 5, is good for `fluent` and bad for `offensive`. A wrong guess here reverses every pair,
and the result looks plausible, so nothing is taken of a name that does not clearly say.
"""

import re
from collections.abc import Iterable, Sequence

from nnd.converters.check import words_of
from nnd.converters.onboard.contents.level_columns import Column


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYSTEM = _set(
    "bot engine generator llm method model models submission summarizer sys system systems"
)
CANDIDATE = _set(
    "candidate completion decoded generated generation hyp hypothesis mt output outputs "
    "out paraphrase predicted prediction reply response simp simplification simplified summ "
    "summary target translation"
)
CONTEXT = _set(
    "article context conversation dialog dialogue doc document history input instruction orig "
    "original paragraph passage post premise prompt query question source src transcript user"
)
ABOVE_CONTEXT = _set(
    "article articleid book chapter conversation conversationid dialog dialogid dialogue "
    "dialogueid doc docid document documentid episode page paragraph paragraphid passage "
    "passageid scene session story thread"
)
REFERENCE = _set("gold golden human ref reference references truth")
IDENTIFIER = _set("guid hash id idx identifier index key number uid uuid")
CATEGORY = _set("category corpus dataset domain genre section task topic")
SPLIT = _set("fold partition split subset")
LANGUAGE = _set("lang language locale")
ANNOTATOR = _set(
    "annotator annotators assessor coder evaluator expert judge participant rater turker "
    "worker workers"
)
ASPECT = _set(
    "aspect attribute criteria criterion dimension item metric q question scale statement"
)
ERROR = _set(
    "addition defect defects error errors fault faults flaw flaws hallucinated hallucination "
    "hallucinations issue issues mistake mistakes mistranslation omission problem problems "
    "toxic unfaithful wrong"
)
LABEL = ERROR | _set(
    "annotation annotations class grade judgement judgment kind label labels mark marks "
    "reason tag tags type verdict"
)
SEVERITY = _set("severity weight")
SCORE = _set(
    "accuracy adequacy answerability appropriateness clarity coherence coherency conciseness "
    "consistency correctness coverage credit engagingness factuality faithfulness fluency grammar "
    "grammaticality helpfulness informativeness interestingness likert meaning mos "
    "naturalness overall points preservation quality rating ratings readability relevance "
    "relevancy satisfaction score scores simplicity specificity understandability usefulness "
    "vote votes"
)
COUNTED = _set(
    "age agreement begin bert bertscore bleu bleurt char chars chrf comet confidence cost count "
    "date day duration elapsed end entropy epoch kappa len length logprob loss meteor minutes num "
    "offset order place pos position ppl perplexity prob probability rank ranking rouge seconds "
    "seed size start std stddev step temperature ter time timestamp token tokens turn variance "
    "version words year zscore"
)
COMMENT = _set(
    "comment comments explanation feedback justification note notes rationale remark remarks"
)

BETTER = SCORE | _set(
    "acceptable accepted accurate adequate answerable appropriate approved clear coherent "
    "complete concise consistent correct covered entailed entailment factual faithful fluent good "
    "grammatical grounded helpful informative natural pass passed polite readable relevant right "
    "safe sensible simple specific supported true truthful understandable useful valid"
)
WORSE = ERROR | _set(
    "bad bias biased difficulty dull edits effort fabricated fabrication false generic harm "
    "harmful hallucinates impolite irrelevant mislead misleading missing offensive "
    "offensiveness omitted omits penalty redundancy redundant repetition repetitions "
    "repetitive repetitiveness rude rudeness severity spam stereotype toxicity vague verbose "
    "violation violations worse worst"
)
"""Words for which higher is better or worse; names with a negation are asked about."""

WORSE_TEXT = _set(
    "altered bad corrupt corrupted edited hallucinated incorrect inconsistent loser low negative "
    "perturbed pert rejected ungrammatical wrong worse"
)
BETTER_TEXT = _set(
    "best better chosen clean consistent correct good gold grammatical high mt original positive "
    "preferred ref reference right unedited winner"
)
"""Words in the names of the two texts of an edited pair."""

SHORT = 60
"""Most characters of a label or a name."""

VERDICT = _set("better best choice label preference preferred pref verdict vote winner")

DENIED = _set("free lack less no non not without")

_FINE = (
    "no error|no errors|no issue|no issues|no mistake|no problem|error free|not hallucinated|none|"
    "ok|okay|good|correct|right|accurate|faithful|factual|consistent|supported|acceptable|accept|"
    "accepted|fine|clean|perfect|pass|noe|yes|true"
)
NO_ERROR = tuple(_FINE.split("|"))
"""Plain labels (`plain_label`) that mean no error; the first one found is used."""

YES, NO = ("yes", "true"), ("no", "false", "0")
"""For these labels, the name of the column must show which one is good."""

KINDS_OF_FAULT = _set("consistent factual faithful")
"""Good labels, except in a column of errors, where they name the kind of error."""

_NEGATING = ("in", "un", "dis", "non", "contra")
_HARMLESS = CONTEXT | IDENTIFIER


def plain_label(label: str) -> str:
    """Return a label for lookups: letters in lower case, one space between words."""
    return " ".join(words_of(label.lower() if label.isupper() else label))


def slug(name: str, otherwise: str) -> str:
    """Return a name of ASCII letters, digits and underscores that starts with a letter."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not plain:
        return otherwise
    return plain if plain[0].isalpha() else f"{otherwise}_{plain}"


def more_is_better(columns: Iterable[Column]) -> bool | None:
    """Return whether higher values of columns are better; None if the names do not say."""
    found = {_of_one(column) for column in columns}
    return found.pop() if len(found) == 1 else None


def _of_one(column: Column) -> bool | None:
    named = column.words if column.words & (WORSE | BETTER) else column.all_words
    if is_doubtful(column):
        return None
    if named & WORSE:
        return False
    return True if named & BETTER else None


def is_doubtful(column: Column) -> bool:
    """Say whether a name may mean the opposite of its words, or has no direction."""
    return bool(column.words & (DENIED | COUNTED)) or any(
        word.startswith(_NEGATING) for word in column.words - BETTER - _HARMLESS
    )


def good_label(labels: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Return the label that means no error; None if no label clearly does."""
    plain = {plain_label(label): label for label in reversed(labels)}
    better = more_is_better(columns)
    known = [label for label in NO_ERROR if label not in YES]
    if better is False:
        known = [label for label in known if label not in KINDS_OF_FAULT] + list(NO)
    elif better:
        known += YES
    return next((plain[label] for label in known if label in plain), None)
