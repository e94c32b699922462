"""The service: what it answers, refuses and limits. Verdicts are played but for one test, which asks the command."""

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import threading
import time

import children
import httpx2 as httpx
import jsonschema
import pytest
from fastapi.testclient import TestClient
from judged import HERE, REFERENCE, SOFTMAX, changed
from service_client import Fuzz
from test_many import processes_with
from tiletwin.fuzz.pools import Loss
from tiletwin.judge import json_text
from tiletwin.judge.service import app, clients
from tiletwin.judge.service.desk import Desk
from tiletwin.judge.service.serving import Plan, application
from tiletwin.judge.verdicts import Facts
from tiletwin.judge.work_items import Item

TOKENS = {"alice": "alice-has-this-token", "bob": "bob-has-another-token"}


class PlayedPool:
    """Judges by what the submission says, and no more than is let through. Of `started` the texts."""

    def __init__(self, size=2):
        self.size, self.started, self.out, self.lets = size, [], [], threading.Event()
        self.lets.set()
        self.is_closed = False

    @property
    def busy(self):
        return len(self.out)

    def start(self, task):
        if len(self.out) >= self.size:
            return False
        self.started.append(task["text"])
        self.out.append(task)
        return True

    def results(self, seconds):
        if not self.lets.wait(seconds):
            return
        while self.out:
            task = self.out.pop(0)
            if "dies" in task["text"]:
                yield Loss(task, "died", "SIGSEGV")
                continue
            made = Facts(task["name"], task["reference_name"], word="wrong" if "wrong" in task["text"] else "right")
            item = Item(**task)
            yield {"key": item.key, "verdict": json_text.as_json(made)}

    def close(self):
        self.is_closed = True


@contextlib.contextmanager
def service(tmp_path, *, rate="100000/minute", most=50, most_of_client=20, kept=50, trusts=False, tokens=TOKENS):
    """A client of alice's, and the pool."""
    (tmp_path / "softmax.py").write_text(REFERENCE)
    pool = PlayedPool()

    def desk(on_verdict):
        return Desk(lambda: pool, most=most, most_of_client=most_of_client, kept=kept, on_verdict=on_verdict)

    made = app.made(
        desk, clients.Clients(tokens, rate), app.References(str(tmp_path)), trusts_clients=trusts, most_bytes=1 << 16
    )
    with TestClient(made, raise_server_exceptions=False, headers=bearer("alice")) as client:
        yield client, pool
        assert pool.is_closed is False
    assert pool.is_closed


def bearer(name):
    return {"authorization": f"Bearer {TOKENS[name]}"}


def question(text="right", **said):
    return {"submission": text, "reference": "softmax", **said}


def ask(client, text="right", wait=30, name="alice", **said):
    return client.post(f"/v1/verdicts?wait={wait}", json=question(text, **said), headers=bearer(name))


def test_a_question_gets_its_verdict_and_the_same_question_is_judged_once(tmp_path):
    with service(tmp_path) as (client, pool):
        first, again = ask(client), ask(client, name="bob")
        assert first.status_code == again.status_code == 200
        assert first.json()["state"] == "done" and first.json()["verdict"]["verdict"] == "right"
        assert first.json()["verdict"]["reference"] == "references/softmax.py"
        assert pool.started == ["right"] and first.json()["id"] != again.json()["id"]
        assert ask(client, seed=1).status_code == 200 and pool.started == ["right"] * 2
        assert ask(client, "wrong", name="bob").json()["verdict"]["verdict"] == "wrong"


def test_a_job_waits_runs_is_looked_at_and_forgotten_by_its_client_alone(tmp_path):
    with service(tmp_path) as (client, pool):
        pool.lets.clear()
        numbers = [ask(client, f"right {i}", wait=0).json()["id"] for i in range(4)]
        until(lambda: len(pool.started) == 2)
        states = [client.get(f"/v1/verdicts/{number}") for number in numbers]
        assert [one.json()["state"] for one in states] == ["running", "running", "queued", "queued"]
        assert {one.status_code for one in states} == {202}
        other = f"/v1/verdicts/{numbers[0]}"
        assert client.get(other, headers=bearer("bob")).status_code == 404
        assert client.delete(other, headers=bearer("bob")).status_code == 404
        assert client.delete(f"/v1/verdicts/{numbers[3]}").status_code == 204
        assert client.get(f"/v1/verdicts/{numbers[3]}").status_code == 404
        assert client.get("/health").json() | {"tiletwin": ""} == {
            "status": "ok", "problem": "", "queued": 1, "running": 2, "tiletwin": "",
        }  # fmt: skip
        pool.lets.set()
        assert all(client.get(f"/v1/verdicts/{number}?wait=30").status_code == 200 for number in numbers[:3])
        assert "right 3" not in pool.started


def test_clients_get_their_turns(tmp_path):
    with service(tmp_path) as (client, pool):
        pool.size = 1
        pool.lets.clear()
        for number in range(5):
            ask(client, f"alice {number}", wait=0)
        ask(client, "bob", wait=0, name="bob")
        pool.lets.set()
        until(lambda: len(pool.started) == 6)
        assert "bob" in pool.started[:3]


def test_a_worker_that_dies_gives_not_judged_and_the_next_question_is_judged_anew(tmp_path):
    with service(tmp_path) as (client, pool):
        verdict = ask(client, "dies").json()["verdict"]
        assert verdict["verdict"] == "not judged" and "SIGSEGV" in verdict["reasons"][0]["text"]
        ask(client, "dies")
        assert pool.started == ["dies", "dies"]


@pytest.mark.parametrize(
    "said, status, text",
    [
        ({}, 422, "Field required"),
        (question(reference=""), 422, "either `reference`"),
        (question(reference_text="x = 1"), 422, "either `reference`"),
        ({"submission": "x", "reference_text": "x = 1"}, 403, "outside of the sandbox"),
        (question(reference="nothing"), 404, "no reference 'nothing'"),
        (question(reference="../softmax"), 404, "no reference"),
        (question(reference="softmax.py"), 404, "no reference"),
        (question(""), 422, "at least 1 character"),
        (question("a\0b"), 422, "a character 0"),
        (question(name="../x.py"), 422, "pattern"),
        (question(budget="all day"), 422, "'quick', 'usual' or 'thorough'"),
        (question(seed=-1), 422, "greater than or equal to 0"),
        (question(targets=["h100", "gameboy"]), 422, "gameboy"),
        (question(targets=["h100"] * 5), 422, "at most 4 items"),
        (question(entry="a b"), 422, "pattern"),
        (question(strange=1), 422, "Extra inputs"),
        ([], 422, "valid dictionary"),
    ],
)
def test_a_bad_question_is_refused_with_the_reason_and_runs_nothing(said, status, text, tmp_path):
    with service(tmp_path) as (client, pool):
        answer = client.post("/v1/verdicts", json=said)
        assert answer.status_code == status and text in answer.text, answer.text
        assert not pool.started and client.get("/health").json()["queued"] == 0


@pytest.mark.parametrize(
    "body, text",
    [(b"{", "JSON decode error"), (b'{"submission": "\\ud800", "reference": "softmax"}', "unicode"), (b"\xff", "")],
)
def test_a_body_that_is_no_text_is_refused(body, text, tmp_path):
    with service(tmp_path) as (client, _):
        answer = client.post("/v1/verdicts", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422) and text in answer.text


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(tmp_path):
    with service(tmp_path) as (client, pool):
        large = "x" * (1 << 16)
        assert client.post("/v1/verdicts", json=question(large)).status_code == 413
        parts = itertools.repeat(b" " * 1024, 100)
        assert client.post("/v1/verdicts", content=parts).status_code == 413
        assert ask(client, "x" * 60000).status_code == 200 and len(pool.started) == 1


def test_tokens(tmp_path):
    with service(tmp_path) as (client, _):
        for header in ("", "Bearer", "Bearer wrong", "Basic " + TOKENS["bob"], TOKENS["bob"], "Bearer \u00e9"):
            answer = client.get("/v1/references", headers={"authorization": header.encode("latin-1")})
            assert answer.status_code == 401 and "Bearer TOKEN" in answer.text
        assert client.get("/v1/references", headers=bearer("bob")).json() == ["softmax"]
        assert client.get("/health", headers={"authorization": ""}).status_code == 200
    file = tmp_path / "tokens.txt"
    file.write_text("# ours\n\nalice alice-has-this-token\nbob  bob-has-another-token\n")
    assert clients.read_tokens(str(file)) == TOKENS
    twice = f"a {TOKENS['bob']}\na {TOKENS['bob']}"
    for text, said in [("alice", "not `name token`"), ("alice short", "shorter than 16"), ("", "has no token"),
                       (twice, "two tokens"), ("a/b " + TOKENS["bob"], "the name of")]:  # fmt: skip
        file.write_text(text)
        with pytest.raises(clients.BadTokens, match=re.escape(said)):
            clients.read_tokens(str(file))


def test_limits_of_requests_and_jobs(tmp_path):
    with service(tmp_path, rate="5/minute") as (client, _):
        answers = [client.get("/v1/references") for _ in range(7)]
        assert [one.status_code for one in answers] == [200] * 5 + [429] * 2
        assert answers[-1].headers["retry-after"] == "60"
        assert client.get("/v1/references", headers=bearer("bob")).status_code == 200
        unknown = [client.get("/v1/references", headers={"authorization": "x"}).status_code for _ in range(7)]
        assert unknown == [401] * 5 + [429] * 2
    with service(tmp_path, most=6, most_of_client=5) as (client, pool):
        pool.lets.clear()
        pool.size = 0
        answers = [ask(client, str(i), wait=0) for i in range(6)]
        assert [one.status_code for one in answers] == [202] * 5 + [429] and "5 jobs of this client" in answers[5].text
        answers = [ask(client, f"b{i}", wait=0, name="bob") for i in range(2)]
        assert [one.status_code for one in answers] == [202, 503] and "6 jobs are waiting" in answers[1].text
        pool.size, _ = 2, pool.lets.set()
        until(lambda: client.get("/health").json()["queued"] == 0)
        assert ask(client, "now").status_code == 200


def test_finished_jobs_are_forgotten_when_there_are_many(tmp_path):
    with service(tmp_path, kept=5) as (client, _):
        numbers = [ask(client, str(i)).json()["id"] for i in range(12)]
        known = [client.get(f"/v1/verdicts/{number}").status_code for number in numbers]
        assert known == [404] * 7 + [200] * 5


def test_texts_of_references_are_taken_where_clients_are_trusted(tmp_path):
    with service(tmp_path, trusts=True) as (client, _):
        answer = client.post("/v1/verdicts?wait=30", json={"submission": "right", "reference_text": REFERENCE})
        assert answer.status_code == 200 and answer.json()["verdict"]["reference"] == "references/given.py"


def test_metrics_and_the_page_of_requests(tmp_path):
    with service(tmp_path) as (client, _):
        ask(client), ask(client, "wrong"), client.get("/nowhere")
        text = client.get("/metrics").text
        for line in ('tiletwin_verdicts_total{verdict="right"} 1.0', 'tiletwin_verdicts_total{verdict="wrong"} 1.0',
                     'tiletwin_requests_total{method="POST",route="/v1/verdicts",status="200"} 2.0',
                     "tiletwin_queued 0.0", "tiletwin_wait_seconds_count 2.0", "process_open_fds"):  # fmt: skip
            assert line in text, text
        routes = client.get("/openapi.json").json()["paths"]
        assert {"/v1/verdicts", "/v1/verdicts/{number}", "/v1/references", "/health", "/metrics"} <= set(routes)
        assert client.get("/docs").status_code == 200
        told = client.get("/openapi.json").json()["paths"]["/v1/verdicts"]["post"]["responses"]
        assert set(told) >= {"200", "202", "401", "403", "404", "413", "422", "429", "503"}
        assert told["422"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_a_pool_that_fails_is_said_by_health(tmp_path):
    def fails():
        raise RuntimeError("workers do not start: no memory")

    desk = Desk(fails, most=5, most_of_client=5, kept=5, on_verdict=lambda job: None)
    until(lambda: desk.problem)
    made = app.made(
        lambda _: desk,
        clients.Clients({}, "9/second"),
        app.References(str(tmp_path)),
        trusts_clients=False,
        most_bytes=9,
    )
    with TestClient(made) as client:
        answer = client.get("/health")
        assert answer.status_code == 503 and "no memory" in answer.json()["problem"]


def test_a_client_that_asks_for_anything_gets_answers_and_nothing_grows(tmp_path):
    with service(tmp_path, most=30, kept=20) as (client, _):
        fuzz = Fuzz(client, TOKENS["alice"], 1)
        fuzz.run(8.0)
        assert not fuzz.problems, "\n".join(fuzz.problems)
        assert {200, 202, 401, 404, 405, 413, 422} <= set(fuzz.statuses)
        until(lambda: client.get("/health").json()["queued"] == 0)
        desk = client.app.state.desk
        assert len(desk._jobs) <= 20 + 1 and len(desk._verdicts) <= 20 and not desk._open and not desk._waiting


def test_a_plan_is_checked(tmp_path):
    def fail(text):
        raise SystemExit(text)

    (tmp_path / "tokens").write_text("alice short")
    folder = str(tmp_path)
    for plan, said in [
        (Plan(), "--references, or say --trust-clients"),
        (Plan(references="nowhere"), "no such folder"),
        (Plan(references=folder, tokens="nowhere"), "No such file"),
        (Plan(references=folder, tokens=f"{folder}/tokens"), "shorter than 16"),
        (Plan(references=folder, rate="often"), "600/minute"),
    ]:  # fmt: skip
        with pytest.raises(SystemExit, match=re.escape(said)):
            application(plan, fail)
    done = children.run_tiletwin("judge", "--serve", "--references", folder, "--host", "0.0.0.0")
    assert done.returncode == 2 and "name --tokens FILE" in done.stderr


def test_the_command_serves_real_verdicts_and_leaves_nothing(tmp_path):
    references, temporary = tmp_path / "references", tmp_path / "temporary"
    (references / "rows").mkdir(parents=True)
    temporary.mkdir()
    (references / "rows/softmax.py").write_text(REFERENCE)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("judge", "--serve", "--references", references, "--port", str(port), "-j", "1")
    server = children.start("-m", "tiletwin", *words, TMPDIR=str(temporary))
    schema = jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/verdict.schema.json").read_text()))
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:

            def answers():
                with contextlib.suppress(httpx.TransportError):
                    return client.get("/health").status_code == 200

            until(answers)
            wrong = changed("mask=c < n)\n\n\ndef", "mask=c < n - 1)\n\n\ndef")
            for text, word in [(SOFTMAX, "right"), (wrong, "wrong")]:
                said = {"submission": text, "reference": "rows/softmax", "cases": 3}
                number = client.post("/v1/verdicts", json=said).json()["id"]
                until(lambda number=number: client.get(f"/v1/verdicts/{number}?wait=30").status_code == 200, 200)
                verdict = client.get(f"/v1/verdicts/{number}").json()["verdict"]
                schema.validate(verdict)
                assert verdict["verdict"] == word and verdict["submission"] == "submission.py"
                assert verdict["isolation"]
    finally:
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=60)
    assert "Traceback" not in out + err, out + err
    until(lambda: not processes_with(str(temporary)) and not os.listdir(temporary))


def until(condition, seconds=200.0):
    """Waits for it. Fails if it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)
