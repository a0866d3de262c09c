"""Words as data: gettext catalogues, the language of the current context, and sentences that keep their parameters. The
standard library's gettext reads the catalogues; what it lacks is a sentence that keeps its parameters.

English is the source and the message id. A library has no business translating a user's logs, so `str()` of an error
or of a `Message` is always English; whoever shows it to a person asks for `.local()`.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
_LOCALE = Path(__file__).parent / "locale"
_current: ContextVar[str] = ContextVar("bayes_engine_language", default="en")


@cache
def _catalogue(code: str) -> gettext.NullTranslations:
    if code == "en":
        return gettext.NullTranslations()
    return gettext.translation("messages", _LOCALE, languages=[code])


def set_language(code: str) -> None:
    """Set the language of this context (thread or task); an unknown code means English."""
    _current.set(code if code in LANGUAGES else "en")


def current_language() -> str:
    """The code of this context's language: a key of `LANGUAGES`."""
    return _current.get()


def preferred(accepted: str | None) -> str:
    """The best language for an `Accept-Language` header or a locale name.

    >>> preferred("zh-CN,zh;q=0.9,en;q=0.8"), preferred("fr"), preferred(None)
    ('zh', 'en', 'en')
    """
    for part in (accepted or "").split(","):
        code = part.split(";")[0].strip().replace("_", "-").split("-")[0].lower()
        if code in LANGUAGES:
            return code
    return "en"


def _(text: str) -> str:
    """`text` in the language of this context; the English source where the catalogue has nothing."""
    return _catalogue(_current.get()).gettext(text) if text else ""


def ngettext(one: str, many: str, n: int) -> str:
    """The singular or plural form for `n`, in the language of this context."""
    return _catalogue(_current.get()).ngettext(one, many, n)


class Word(str):
    """A parameter that is one of our own words (a kind, a role): `Message.local` translates it, `str()` does not."""

    __slots__ = ()


class Listing(str):
    """Several texts (or sentences) as one parameter: `str()` has commas between them, `Message.local` what the language
    has.

    >>> Listing(["a", Message("'{name}'", {"name": "b"})])
    "a, 'b'"
    """

    parts: tuple[str | Message, ...]

    def __new__(cls, parts: Iterable[str | Message]) -> Listing:
        kept = tuple(parts)
        made = super().__new__(cls, ", ".join(map(str, kept)))
        made.parts = kept
        return made

    def __getnewargs__(self) -> tuple[tuple[str | Message, ...]]:  # type: ignore[override]
        return (self.parts,)


@dataclass(frozen=True)
class Message:
    """A sentence as data: an English template with named fields, and what goes into them.

    "{n} row(s)" is one row or two rows as `n` says.

    >>> str(Message("column '{column}' is empty", {"column": "e"}))
    "column 'e' is empty"
    >>> [str(Message("{n} class(es) have no row", {"n": n})) for n in (1, 2)]
    ['1 class has no row', '2 classes have no row']
    """

    template: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return _in_number(self.template, self.params).format(**self.params)

    def local(self, escape: Callable[[str], str] = str) -> str:
        """The sentence in the context's language; text parameters go through `escape` (a page's Markdown guard), and a
        parameter that is a sentence is put into the language as well."""

        def shown(value: object) -> object:
            if isinstance(value, Word):
                return _(value)
            if isinstance(value, Message):
                return value.local(escape)
            if isinstance(value, Listing):
                return _(", ").join(str(shown(part)) for part in value.parts)
            return escape(value) if isinstance(value, str) else value

        template = _in_number(_(self.template), self.params)
        return template.format(**{name: shown(value) for name, value in self.params.items()})


_COUNTED = re.compile(
    r"(\{(\w+)(?::[^}]*)?\}(?:\*\*)?(?: [a-z]+){0,2}? [a-z]+)\((s|es)\)((?: (?:of|without a value in) '\{\w+\}')?)"
    r"(?: (have|are|do|need|hold|stand|lie|differ)\b)?"
)
_OF_ONE = {"have": "has", "are": "is", "do": "does"}


def _in_number(template: str, params: Mapping[str, object]) -> str:
    """English: each counted noun with its "(s)", and the verb that follows it, in the number of its count."""

    def agree(match: re.Match[str]) -> str:
        noun, count, ending, of, verb = match.groups()
        one = str(params.get(count)) in ("1", "1.0")
        does = f" {_OF_ONE.get(verb, verb + 's') if one else verb}" if verb else ""
        return noun + ("" if one else ending) + of + does

    return _COUNTED.sub(agree, template) if "s)" in template else template
