"""The table `spam-words` is derived from the messages of `sms-spam` as its source note says."""

from __future__ import annotations

import re

from bayes_engine import load_dataset

WORDS = {
    "free": r"\bfree\b", "call": r"\bcall\b", "text": r"\b(txt|text)\b", "win": r"\b(win|won|winner|prize)\b",
    "claim": r"\bclaim\b", "reply": r"\breply\b", "mobile": r"\bmobile\b", "money": r"[£$€]",
}  # fmt: skip


def test_every_cell_comes_from_its_message() -> None:
    messages, table = load_dataset("sms-spam").frame, load_dataset("spam-words").frame
    assert table["label"].tolist() == messages["label"].tolist()
    for (_, row), text in zip(table.iterrows(), messages["message"], strict=True):
        letters = [c for c in text if c.isalpha()]
        share = 100 * sum(c.isupper() for c in letters) / len(letters) if letters else 0.0
        assert row["length"] == len(text)
        assert row["digits"] == sum(c.isdigit() for c in text)
        assert abs(row["capitals"] - share) <= 0.0501
        assert row["exclamations"] == text.count("!")
        assert {w: row[w] == "yes" for w in WORDS} == {w: bool(re.search(p, text.lower())) for w, p in WORDS.items()}
