"""The command `tiletwin judge --serve`.

Here:      checking what was asked for, starting the server.
Not here:  options (cli.py), answers (app.py).
Invariant: without tokens it listens on this machine only.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

Fail = Callable[[str], NoReturn]


@dataclass(frozen=True)
class Plan:
    """Of a service. references: a folder. tokens: a file. rate: requests of one client. queue: jobs that wait, of all;
    queue_of_client: jobs of one client that are not done. most_bytes: of a request."""

    host: str = "127.0.0.1"
    port: int = 8000
    references: str = ""
    tokens: str = ""
    trusts_clients: bool = False
    jobs: int = 0
    rate: str = "600/minute"
    queue: int = 1000
    queue_of_client: int = 100
    most_bytes: int = 1 << 20
    kept: int = 2000


def application(plan: Plan, fail: Fail) -> Any:
    """The ASGI application of a plan."""
    try:
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401

        from tiletwin.judge.service import app, clients
    except ImportError as error:
        fail(f"--serve needs {error.name}: pip install 'tiletwin[serve]'")
    from tiletwin.judge import many
    from tiletwin.judge.service.desk import Desk

    if plan.references and not Path(plan.references).is_dir():
        fail(f"--references {plan.references}: there is no such folder")
    if not plan.references and not plan.trusts_clients:
        fail("name a folder of references by --references, or say --trust-clients: they run outside of the sandbox")
    try:
        known = clients.Clients(clients.read_tokens(plan.tokens) if plan.tokens else {}, plan.rate)
    except OSError as error:
        fail(f"--tokens {plan.tokens}: {error.strerror}")
    except clients.BadTokens as error:
        fail(f"--tokens: {error}")
    except ValueError:
        fail(f"--rate {plan.rate}: not like 600/minute")

    def desk(on_verdict: Any) -> Desk:
        return Desk(
            lambda: many.pool_of(plan.jobs, ""), most=plan.queue, most_of_client=plan.queue_of_client,
            kept=plan.kept, on_verdict=on_verdict,
        )  # fmt: skip

    return app.made(
        desk, known, app.References(plan.references), trusts_clients=plan.trusts_clients, most_bytes=plan.most_bytes
    )


def run(plan: Plan, fail: Fail) -> int:
    """Serves until it is interrupted. Returns the exit code."""
    if not plan.tokens and not _is_here(plan.host):
        fail(f"--host {plan.host}: others would reach the service, and anybody could ask; name --tokens FILE")
    made = application(plan, fail)
    import uvicorn

    workers = plan.jobs or len(os.sched_getaffinity(0))
    print(f"tiletwin: http://{plan.host}:{plan.port}/docs, {workers} verdicts at once", file=sys.stderr)
    limits = {"timeout_graceful_shutdown": 5, "limit_concurrency": 1000, "log_level": "warning"}
    server = uvicorn.Server(uvicorn.Config(made, plan.host, plan.port, **limits))
    server.run()
    return 0 if server.started else 2


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
