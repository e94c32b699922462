"""The service's answers: what can be asked over HTTP, in which form, and what is refused.

Here:      routes, models of requests and answers, errors.
Not here:  the queue (desk.py), who may ask (clients.py), what Prometheus reads (metrics.py), starting it (serving.py).
Invariant: a request that is not understood gets 4xx and says why; it runs nothing. References run outside of the
           sandbox, so they come from the service's own folder, unless its owner has said that clients are trusted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tiletwin import devices
from tiletwin.judge.service.clients import Clients
from tiletwin.judge.service.desk import Desk, Full, Job
from tiletwin.judge.service.metrics import Metrics
from tiletwin.judge.settings import BUDGETS, settings_of
from tiletwin.judge.work_items import Item
from tiletwin.version import TILETWIN_VERSION

MOST_WAIT = 60.0
"""Seconds that a request may wait for a verdict."""
_FILE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}\.py$"


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it has half of a surrogate pair, which is no text") from None
    if "\0" in text:
        raise ValueError("it has a character 0")
    return text


def _target(name: str) -> str:
    if name != "sim":
        devices.device_named(name)  # ValueError says which names there are
    return name


Text = Annotated[str, AfterValidator(_encodable)]


class Question(BaseModel):
    """What is to be judged. Either `reference` or `reference_text`."""

    model_config = ConfigDict(extra="forbid")
    submission: Text = Field(description="Text of the file that is judged.", min_length=1)
    name: str = Field("submission.py", description="Its name in the verdict.", pattern=_FILE)
    reference: str = Field("", description="Name of one of the service's references.", max_length=200)
    reference_text: Text = Field("", description="Text of a reference; only where the service trusts its clients.")
    budget: Literal["quick", "usual", "thorough"] = "quick"
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Of all inputs.")
    cases: int = Field(0, ge=0, le=1000, description="At most so many; 0: as the budget says.")
    entry: str = Field("", max_length=200, pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$", description="What it defines.")
    targets: list[Annotated[str, AfterValidator(_target)]] = Field([], max_length=4, description="GPUs, or sim.")


class Answer(BaseModel):
    """`verdict` is there when `state` is done; docs/verdict.schema.json describes it."""

    id: str
    state: Literal["queued", "running", "done"]
    verdict: dict[str, Any] | None = None


class Health(BaseModel):
    status: Literal["ok", "failed"]
    problem: str
    queued: int
    running: int
    tiletwin: str


class Problem(BaseModel):
    detail: Any


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Problem} for code in codes}


Wait = Annotated[float, Query(ge=0, le=MOST_WAIT, description="Seconds to wait for the verdict.")]
Number = Annotated[str, InPath(max_length=64)]


def client(request: Request) -> str:
    """Who asks. Errors: 401, 429."""
    clients: Clients = request.app.state.clients
    address = request.client.host if request.client else ""
    who = clients.name(request.headers.get("authorization", ""), address)
    if not clients.may_ask(who or f"unknown {address}"):
        raise HTTPException(429, "too many requests", {"Retry-After": str(clients.seconds())})
    if who is None:
        raise HTTPException(401, "it needs `Authorization: Bearer TOKEN` with one of the service's tokens",
                            {"WWW-Authenticate": "Bearer"})  # fmt: skip
    return who


Who = Annotated[str, Depends(client)]


class References:
    """Files of a folder: their names without .py, their texts."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder) if folder else None

    def names(self) -> list[str]:
        if self.folder is None:
            return []
        return sorted(str(path.relative_to(self.folder).with_suffix("")) for path in self.folder.rglob("*.py"))

    def text(self, name: str) -> str | None:
        if self.folder is None or name not in self.names():
            return None
        return (self.folder / f"{name}.py").read_text(encoding="utf-8")


def made(
    desk: Callable[[Callable[[Job], None]], Desk], clients: Clients, references: References, *, trusts_clients: bool,
    most_bytes: int,
) -> FastAPI:  # fmt: skip
    """The application. desk: makes the queue when the service starts, given whom to tell of verdicts."""
    metrics = Metrics()

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.desk, app.state.clients = desk(metrics.count), clients
        yield
        await asyncio.to_thread(app.state.desk.close)

    app = FastAPI(
        title="tiletwin judge", version=TILETWIN_VERSION, lifespan=life, max_body_size=most_bytes,
        description="Says of kernels whether they are right, wrong, cheating or broken, with reasons.",
    )  # fmt: skip

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> JSONResponse:
        """Without what was sent, which may be long, or no text."""
        told = [{"type": one["type"], "loc": list(one["loc"]), "msg": one["msg"]} for one in error.errors()]
        return JSONResponse({"detail": told}, 422)

    @app.middleware("http")
    async def counted(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call_next(request)
        route = getattr(request.scope.get("route"), "path", "none")
        metrics.requests.labels(request.method if route != "none" else "none", route, response.status_code).inc()
        return response

    def job_of(who: str, number: str) -> Job:
        job = app.state.desk.job(who, number)
        if job is None:
            raise HTTPException(404, f"there is no job {number} of yours; finished jobs are forgotten after a while")
        return job

    async def answer(job: Job, wait: float, response: Response) -> Answer:
        if wait and not job.answer.done():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(job.answer)), wait)
        if job.answer.cancelled():
            raise HTTPException(503, app.state.desk.problem or "the job was forgotten")
        if not job.answer.done():
            response.status_code = 202
            return Answer(id=job.id, state="running" if job.began else "queued")
        return Answer(id=job.id, state="done", verdict=job.answer.result())

    def item_of(question: Question) -> Item:
        text = question.reference_text
        if bool(text) == bool(question.reference):
            raise HTTPException(422, "give either `reference`, a name, or `reference_text`")
        if text and not trusts_clients:
            why = "references run outside of the sandbox, and this service takes its own only: give `reference`"
            raise HTTPException(403, f"{why}, a name of GET /v1/references")
        if not text:
            known = references.text(question.reference)
            if known is None:
                raise HTTPException(404, f"there is no reference {question.reference!r}; GET /v1/references lists them")
            text = known
        options: dict[str, Any] = {"seed": question.seed, "entry": question.entry, "targets": question.targets}
        if question.cases:
            options["most"] = question.cases
        settings = settings_of(question.budget, **options)
        name = f"references/{question.reference or 'given'}.py"
        return Item(question.name, question.submission, name, text, settings.as_options())

    @app.post("/v1/verdicts", responses={202: {"model": Answer}, **_problems(401, 403, 404, 413, 422, 429, 503)})
    async def submit(question: Question, who: Who, response: Response, wait: Wait = 0.0) -> Answer:
        """Judges a submission. 200: the verdict; 202: it is not there yet."""
        try:
            job = app.state.desk.submit(who, item_of(question))
        except Full as error:
            raise HTTPException(429 if error.of_client else 503, str(error), {"Retry-After": "5"}) from None
        return await answer(job, wait, response)

    @app.get("/v1/verdicts/{number}", responses={202: {"model": Answer}, **_problems(401, 404, 422, 429, 503)})
    async def look(number: Number, who: Who, response: Response, wait: Wait = 0.0) -> Answer:
        """A job's verdict. 200: it is there; 202: not yet."""
        return await answer(job_of(who, number), wait, response)

    @app.delete("/v1/verdicts/{number}", status_code=204, responses=_problems(401, 404, 422, 429))
    async def forget(number: Number, who: Who) -> None:
        """Forgets a job. What waits is not judged."""
        app.state.desk.forget(job_of(who, number))

    @app.get("/v1/references", responses=_problems(401, 429))
    async def list_references(who: Who) -> list[str]:
        """Names of the references."""
        return references.names()

    @app.get("/health", responses={503: {"model": Health}})
    async def health() -> Response:
        """Whether verdicts are made."""
        queued, running = app.state.desk.counts()
        problem = app.state.desk.problem
        said = Health(status="failed" if problem else "ok", problem=problem, queued=queued, running=running,
                      tiletwin=TILETWIN_VERSION)  # fmt: skip
        return JSONResponse(said.model_dump(), 503 if problem else 200)

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def prometheus() -> Response:
        """For Prometheus."""
        return Response(metrics.text(*app.state.desk.counts()), media_type="text/plain; version=0.0.4; charset=utf-8")

    assert set(BUDGETS) == set(Question.model_fields["budget"].annotation.__args__)  # type: ignore[union-attr]
    return app
