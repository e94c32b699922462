"""Pages and pieces of HTML, made with Jinja2: templates, styles and scripts lie in this folder.

Here:      `render`. palette.py has the colours of everything that is shown, tiles.py the picture of a tile.
Not here:  what is shown (trace/, diff/, eager/, fuzz/).
Invariant: what a template puts in is escaped; a page names no other resource. Jinja2 is imported by the first page.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any


@functools.cache
def _environment() -> Any:
    import jinja2

    from tiletwin.pages import palette

    folder = jinja2.FileSystemLoader(Path(__file__).parent)
    made = jinja2.Environment(
        loader=folder, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.globals["palette"] = palette
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


def render(template: str, **values: Any) -> str:
    """The HTML that a template of this folder makes of values."""
    return _environment().get_template(template).render(values)


def safe(html: str) -> Any:
    """HTML that is not escaped once more."""
    import markupsafe

    return markupsafe.Markup(html)
