"""How plainly the name of a column says that it is the one to foretell."""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_REMARK = re.compile(r"\(.*\)|\[.*\]|（.*）")
_TARGET = re.compile(
    r"""class(es)?|labels?|target|outcome|y|klasse|zielvariable|zielgro(ß|ss)e|etikett|classe|etiquette|cible|clase|etiqueta|
    objetivo|类别?|类标|标签|目标|分类""",
    re.VERBOSE,
)
"""What the column to foretell is called as such, without accents and in small letters."""
_FORETOLD = re.compile(
    r"""churn(ed)?|exited|attrition|default(ed)?|delinquent|diagnos(is|e|tic|tico)|surviv(ed|al)|fraud(ulent)?|spam|
    approv(ed|al)|subscribed|converted|purchased|readmitted|recurrence|relapse|deceased|mortality|species|sentiment|
    befund|ergebnis|\w*ausfall|abwanderung|(ge)?kundig(ung|t)|betrug|uberlebt|genehmigt|bewilligt|
    resulta[td]o?|defaut|resiliation|desabonnement|fraude|surv(ie|ecu)|approuve|accorde|espece|
    impago|incumplimiento|abandono|sobrevivio|aprobado|especie|
    .*(违约|流失|诊断|诊断结果|好瓜|欺诈|患病|逾期|离职|生还|存活|幸存|复发)""",
    re.VERBOSE,
)
"""What a table is usually made to foretell, as the last word of a name besides one that only says that it is a fact."""
_FACT = re.compile("flag|indicator|ind|status|yn|value")
_FORETOLD_ALONE = re.compile(
    "category|results?|response|decision|status|sorte|[ck]ategorie|categoria|(loan|application|vital) status|结果"
)
"""The same, where it is the whole name: a marital status is none."""


def target_strength(name: str) -> int:
    """How plainly a name says that its column is the one to foretell: 3 as such, 2 as what is usually foretold, 1 as a
    question (是否…), 0 not at all.

    >>> names = ("Class", "isFraud", "churn_flag", "Diagnóstico", "是否违约", "是否已婚", "违约次数")
    >>> [target_strength(name) for name in names]
    [3, 2, 2, 2, 2, 1, 0]
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", _REMARK.sub("", name)) if not unicodedata.combining(c))
    words = [word.lower() for word in _WORDS.split(plain) if word]
    if not words:
        return 0
    if _TARGET.fullmatch(words[-1]):
        return 3
    fact = words[-2] if _FACT.fullmatch(words[-1]) and len(words) > 1 else words[-1]
    if _FORETOLD.fullmatch(fact) or _FORETOLD_ALONE.fullmatch(" ".join(words)):
        return 2
    return int(words[0].startswith("是否"))
