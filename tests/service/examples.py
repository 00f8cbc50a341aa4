"""Rounds, and clients that play them."""

import json
import random
import socket
import time
from typing import Any

import numpy as np

from normalhedge import Mixture
from normalhedge.mixtures.streams._stream import Stream
from tests.service.running import Asked

ONE = "/v1/mixtures/load"


OPTIONS: dict[str, Any] = {"max_pending": 10_000, "history": 200, "max_names": 10_000}
"""The arguments that the service gives to a mixture by default."""


def operations_at_random(
    seed: int, count: int, *, changes: bool = True
) -> list[tuple[str, dict[str, Any]]]:
    """Return requests, each with its verb: forecasts, late outcomes, corrections, changes."""
    rng = random.Random(seed)
    pending: list[int] = []
    settled: list[int] = []
    found: list[tuple[str, dict[str, Any]]] = []
    ticket, names = 0, ["gam", "ar", "naïve"]
    while len(found) < count:
        draw = rng.random()
        if draw < 0.5 or not pending:
            forecasts: dict[str, Any] = {
                name: rng.gauss(0, 1) for name in names if rng.random() < 0.9
            } or {names[0]: None}
            body: dict[str, Any] = {"forecasts": forecasts}
            if rng.random() < 0.2:
                body["confidence"] = {names[0]: rng.random()}
            if rng.random() < 0.3:
                body["id"] = f"round {ticket}"
            found.append(("predict", body))
            pending.append(ticket)
            ticket += 1
        elif draw < 0.93 or not changes:
            one = pending.pop(rng.randrange(len(pending)))
            found.append(("outcome", {"ticket": one, "outcome": rng.gauss(0, 1)}))
            settled.append(one)
        elif draw < 0.97 and settled:
            one = rng.choice(settled[-20:])
            found.append(("correct", {"ticket": one, "outcome": rng.gauss(0, 1)}))
        else:
            new = f"expert {len(found)}"
            found.append(("experts", {"inherit": [new, rng.choice(names)]}))
            names.append(new)
    return found


def line_of(verb: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a stream that asks for the same."""
    if verb == "correct":
        return {"ticket": body["ticket"], "correct": body["outcome"]}
    return body


def ask(client: Asked, verb: str, body: dict[str, Any], key: str | None = None) -> Any:
    """Return the status and the answer to a request on the mixture ``load``."""
    headers = {} if key is None else {"idempotency-key": key}
    answer = client.post(f"{ONE}/{verb}", json=body, headers=headers)
    return answer.status_code, answer.json()


def replayed(log: list[dict[str, Any]], **options: Any) -> Mixture:
    """Return the mixture that the events of a log lead to, without any snapshot."""
    mixture = Mixture(**options)
    stream = Stream(mixture)
    for event in log:
        body = event["body"] if isinstance(event["body"], list) else [event["body"]]
        for operation in body:
            mixture.redo(operation)
    assert not stream.refused
    return mixture


def forecasts(k: int) -> dict[str, Any]:
    return {"forecasts": {f"expert {j}": float(j * k % 7) for j in range(20)}}


def talk(client: Asked, *parts: bytes, pause: float = 0.0) -> bytes:
    """Return all that the server says to bytes on a bare connection."""
    with socket.create_connection(("127.0.0.1", client.base_url.port or 0), 10) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        said = b""
        while part := connection.recv(65536):
            said += part
    return said


def events(client: Asked) -> list[dict[str, Any]]:
    text = client.get(f"{ONE}/log", params={"events": "true"}).text
    return [json.loads(line) for line in text.splitlines()]


def rounds(count: int, experts: int = 3) -> list[tuple[dict[str, float], float]]:
    rng = np.random.default_rng(0)
    return [
        ({f"e{k}": float(rng.normal()) for k in range(experts)}, float(rng.normal()))
        for _ in range(count)
    ]
