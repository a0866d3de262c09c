"""The names in files, which stay when the code renames: of a record's fields and of an estimator's fitted attributes.

The tags of classes are the keys of `values.RECORDS` and `forms.FORMS`. What the code calls an attribute is its name in
files too, unless it stands here.
"""

from __future__ import annotations

from collections.abc import Mapping

STORED: Mapping[str, Mapping[str, str]] = {"Search": {"decomposed_score": "bill"}}
"""By tag: what an attribute that was renamed is called in files. Version 1 of the format began with none."""


def stored_name(tag: str, attribute: str) -> str:
    """What an attribute of the record or estimator of this tag is called in files.

    >>> stored_name("CPT", "p")
    'p'
    """
    return STORED.get(tag, {}).get(attribute, attribute)
