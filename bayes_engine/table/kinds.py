"""What a column can hold and be for, in words; apart from `schema`, for those who need no arrays."""

from __future__ import annotations

from typing import Literal

Level = str | int | float | bool
Kind = Literal["categorical", "binary", "continuous", "count", "text", "date", "identifier", "constant", "empty"]
Role = Literal["feature", "target", "ignore", "id", "group", "weight", "amount"]
