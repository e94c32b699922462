"""Who asks the service, and how often and how much each may ask.

Here:      tokens, limits of requests.
Not here:  limits of jobs (desk.py), answers (app.py).
"""

from __future__ import annotations

import hmac
import re
from pathlib import Path

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class BadTokens(ValueError):
    """A file of tokens that cannot be used."""


def read_tokens(path: str) -> dict[str, str]:
    """Tokens by name, of a file with a line `name token` for each client. Errors: OSError, BadTokens."""
    found: dict[str, str] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 2 or not _NAME.fullmatch(words[0]):
            raise BadTokens(f"{path}:{number}: not `name token`, the name of letters, digits, _ . and -")
        if len(words[1]) < 16:
            raise BadTokens(f"{path}:{number}: the token of {words[0]} is shorter than 16 characters")
        if words[0] in found:
            raise BadTokens(f"{path}:{number}: {words[0]} has two tokens")
        found[words[0]] = words[1]
    if not found:
        raise BadTokens(f"{path} has no token")
    return found


class Clients:
    """tokens: by name; empty: whoever reaches the service may ask, and an address is a client. rate: "120/minute"."""

    def __init__(self, tokens: dict[str, str], rate: str) -> None:
        """Errors: ValueError, not a rate."""
        self._tokens = tokens
        self._rate = parse(rate)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def name(self, authorization: str, address: str) -> str | None:
        """Who that is; None: nobody who may ask."""
        if not self._tokens:
            return address
        scheme, _, given = authorization.partition(" ")
        names = [
            name for name, token in self._tokens.items() if hmac.compare_digest(token.encode(), given.strip().encode())
        ]
        return names[0] if names and scheme.lower() == "bearer" else None

    def may_ask(self, who: str) -> bool:
        """Counts a request."""
        return self._limiter.hit(self._rate, who)

    def seconds(self) -> int:
        """After which one may ask again, at the latest."""
        return int(self._rate.get_expiry())
