"""What stands on the screen while the app is loaded: a quiet picture of its frame, in the reader's language.

Streamlit's page is empty until 700 kB of scripts are read, a session is begun, and its first run has sent a page. The
skeleton lies over all of that. The app's own style sheet takes it away once the first heading stands below it
(`pages.shell.chips`), so that nobody sees a page without that style; the skeleton's own does where there is something
to be answered, and after half a minute in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context

from bayes_engine.language import _, set_language

_ROOT = '<div id="root"></div>'
"""Where Streamlit's script draws; without it the page is not one of Streamlit's."""
_LANGUAGE = '<html lang="en">'
_WHOLE = '<link rel="expect" href="#root" blocking="render">'
"""The browser draws no frame before it has come to what stands after the skeleton: it may draw while it still reads."""

_STYLE = """
#skeleton { position: fixed; inset: 0; z-index: 1000000; display: flex; background: #fff; color: #2f2d2b;
  font: 1rem "Source Sans", "Source Sans Pro", sans-serif; animation: skeleton-ends 0s 30s forwards; --block: #8881 }
#skeleton aside { box-sizing: border-box; flex: none; width: 300px; padding: 48px 30px; background: #f8f8f7 }
#skeleton b { display: block; font-size: 1rem; padding: 10px 0 30px }
#skeleton main { flex: 1; padding: 68px clamp(1rem, 3vw, 4rem) }
#skeleton i { display: block; height: 1.1rem; margin-bottom: 1.2rem; border-radius: 8px; background: var(--block) }
#skeleton main i:first-child { width: 55%; height: 2.4rem }
#skeleton main i:last-child { height: 24rem; margin-top: 1.6rem }
#skeleton p { margin: 0; opacity: .75 }
body:has([role="dialog"], [role="alertdialog"]) #skeleton { display: none }
@keyframes skeleton-ends { to { visibility: hidden } }
@media (prefers-color-scheme: dark) {
  #skeleton { background: #171614; color: #edebe8; --block: #fff1 }
  #skeleton aside { background: #21201d }
}
@media (max-width: 1200px) { #skeleton aside { width: 14.5rem } }
@media (max-width: 768px) { #skeleton aside { display: none } }
"""


def with_skeleton(page: str, language: str, soon: Sequence[str] = ()) -> str:
    """Streamlit's page of HTML with the skeleton over it, and told its language and its title; any other page as it is.
    The scripts that are needed `soon` are fetched after those that the page names.

    >>> made = with_skeleton('<html lang="en"><title>Streamlit</title><body><div id="root"></div>', "zh")
    >>> made.startswith('<html lang="zh"><title>Bayes Workbench</title>'), "正在打开" in made
    (True, True)
    """
    if _ROOT not in page:
        return page
    drawn = copy_context().run(_drawn, language)  # the language is this page's alone
    links = "".join(f'<link rel="modulepreload" fetchpriority="low" crossorigin href="./{name}">' for name in soon)
    page = page.replace("</head>", f"{_WHOLE}{links}</head>", 1)
    page = page.replace("<title>Streamlit</title>", "<title>Bayes Workbench</title>", 1)
    return page.replace(_LANGUAGE, f'<html lang="{language}">', 1).replace(_ROOT, drawn + _ROOT, 1)


def _drawn(language: str) -> str:
    set_language(language)
    return (
        f'<style>{_STYLE}</style><div id="skeleton" role="status"><aside><b>{_("Bayes Workbench")}</b>{"<i></i>" * 9}'
        f"</aside><main><i></i><p>{_('Opening the page …')}</p><i></i></main></div>"
    )
