"""What the launcher leans on that nobody promises, in one place: tried on Streamlit 1.67 and uvicorn 0.54."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def wrap_application(wrap: Callable[[Any, Callable[[], tuple[str, int]]], Any]) -> None:
    """Have Streamlit serve `wrap(application, where)` in place of its own application, which it hands to
    `uvicorn.Config`; it has no setting for that. Once it is open `where()` are its scheme and its port."""
    import uvicorn

    class Config(uvicorn.Config):
        def __init__(self, app: Any, *args: Any, **options: Any) -> None:
            super().__init__(app, *args, **options)
            self.app = wrap(app, lambda: ("https" if self.is_ssl else "http", self.port))

    uvicorn.Config = Config  # type: ignore[misc]
