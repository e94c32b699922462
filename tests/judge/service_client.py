"""A client of the judge's service that asks for what makes sense, for what does not, and for too much.

`python tests/judge/service_client.py URL SECONDS TOKEN` asks one that runs. test_service.py asks one for a moment.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from typing import Any

import httpx2 as httpx

STATUSES = {200, 202, 204, 400, 401, 403, 404, 405, 413, 422, 429, 503}
"""All that the service may answer. No 500."""
SHORT = "import triton\n\ndef softmax(x):\n    return x\n"
_ODD: list[Any] = [
    None, "", "\0", "\ud800", "../reference", -1, 2**63, 1e400, [], {}, True, "x" * 5000, "softmax", [[[[]]]],
]  # fmt: skip
_PATHS = ("/v1/verdicts", "/v1/references", "/health", "/metrics", "/openapi.json", "/docs", "/", "/v1/verdicts/%00",
          "/v1/verdicts/..%2f..", "/v1/verdicts/" + "a" * 3000, "//", "/v1/verdicts/é")  # fmt: skip
_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE")


class Fuzz:
    """client: of the service, with its address. Attributes: statuses, how often each was answered; problems, what was
    answered that should not have been."""

    def __init__(self, client: Any, token: str, seed: int = 0) -> None:
        self.client, self.token = client, token
        self.random = random.Random(seed)
        self.statuses: Counter[int] = Counter()
        self.problems: list[str] = []
        self.jobs: list[str] = []

    def run(self, seconds: float) -> None:
        """For so long. Errors: httpx's, the service does not answer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.random.choice([self.anything, self.question, self.question, self.job, self.bytes, self.large])()

    def ask(self, method: str, path: str, **said: Any) -> Any:
        headers = said.pop("headers", {})
        headers["authorization"] = f"Bearer {self.token}" if self.random.random() < 0.9 else "Bearer of nothing"
        answer = self.client.request(method, path, headers=headers, **said)
        self.statuses[answer.status_code] += 1
        if answer.status_code not in STATUSES:
            self.problems.append(f"{method} {path[:200]} {str(said)[:500]}: {answer.status_code} {answer.text[:200]}")
        elif answer.status_code >= 400 and method != "HEAD" and not self._says_why(answer):
            self.problems.append(f"{method} {path[:200]}: {answer.status_code} without a reason: {answer.text[:200]}")
        return answer

    @staticmethod
    def _says_why(answer: Any) -> bool:
        if answer.headers.get("content-type", "").startswith("text/plain"):
            return bool(answer.text)  # of the server itself, which could not read the request
        said = answer.json()
        return bool(said.get("detail") or said.get("problem"))

    def anything(self) -> None:
        query = self.random.choice(["", "?wait=nan", "?wait=-1", "?wait=1e9", "?x=%ff"])
        self.ask(self.random.choice(_METHODS), self.random.choice(_PATHS) + query)

    def question(self) -> None:
        """A right question, most often with something wrong in it."""
        said: dict[str, Any] = {"submission": f"{SHORT}# {self.random.random()}", "reference": "softmax"}
        said |= {"budget": "quick", "cases": 1}
        for _ in range(self.random.choice([0, 1, 1, 2])):
            name = self.random.choice([*said, "name", "seed", "entry", "targets", "reference_text", "strange"])
            if self.random.random() < 0.2:
                said.pop(name, None)
            else:
                said[name] = self.random.choice(_ODD)
        wait = self.random.choice(["", "?wait=0.01"])
        answer = self.ask("POST", f"/v1/verdicts{wait}", content=json.dumps(said), headers=_JSON())
        if answer.status_code in (200, 202):
            self.jobs.append(answer.json()["id"])

    def job(self) -> None:
        if self.jobs:
            number = self.random.choice(self.jobs[-20:])
            self.ask(self.random.choice(["GET", "GET", "DELETE"]), f"/v1/verdicts/{number}")

    def bytes(self) -> None:
        text = json.dumps({"submission": SHORT, "reference": "softmax"}).encode()
        data = bytearray(text[: self.random.randrange(len(text) + 1)])
        for _ in range(self.random.randrange(4)):
            if data:
                data[self.random.randrange(len(data))] = self.random.randrange(256)
        self.ask("POST", "/v1/verdicts", content=bytes(data), headers=_JSON())

    def large(self) -> None:
        if self.random.random() > 0.05:
            return
        parts = (b"x" * (1 << 16) for _ in range(64))
        try:
            answer = self.ask("POST", "/v1/verdicts", content=self.random.choice([b" " * (4 << 20), parts]))
        except httpx.NetworkError:  # it does not listen to the end of it
            return
        if answer.status_code not in (401, 413, 422, 429):
            self.problems.append(f"4 MB: {answer.status_code}")


def _JSON() -> dict[str, str]:
    return {"content-type": "application/json"}


def main(url: str, seconds: str, token: str) -> None:
    def memory() -> str:
        text = httpx.get(f"{url}/metrics", timeout=60).text
        lines = [line for line in text.splitlines() if line.startswith(("process_res", "process_open_fds"))]
        return "; ".join(lines)

    print("before:", memory(), flush=True)
    with httpx.Client(base_url=url, timeout=120) as client:
        fuzz = Fuzz(client, token, int(time.time()))
        for part in range(4):
            fuzz.run(float(seconds) / 4)
            print(f"{part + 1} of 4:", dict(fuzz.statuses), memory(), flush=True)
    print("health:", httpx.get(f"{url}/health", timeout=60).text)
    print("\n".join(fuzz.problems[:20]) or "no problem")


if __name__ == "__main__":
    main(*sys.argv[1:])
