"""Verdict: what a judge returns, and how it shows itself.

Not here:  what is in it (verdicts.py), its forms (text.py, json_text.py, html.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.judge import html, json_text, text
from tiletwin.judge.verdicts import Facts


class Verdict(Facts):
    """`print` shows it as text, a notebook as a page."""

    def __str__(self) -> str:
        return text.text(self)

    def _repr_html_(self) -> str:
        return html.fragment(self)

    def as_json(self) -> dict[str, Any]:
        """What docs/verdict.schema.json describes."""
        return json_text.as_json(self)
