"""What clients of a server were told, and what its log and its states must say then."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from normalhedge.mixtures import Mixture
from normalhedge.service._recovery import state_text
from tests.service.sending import Connection

OPTIONS: dict[str, Any] = {"max_pending": 10_000, "history": 200, "max_names": 10_000}
"""The settings of the mixtures."""

LONG = 1_000_000
"""The history of a replay: how far back a mixture can correct depends on when it was loaded, and
what it becomes does not. So the replay must be able to correct everything."""

NAMES = ("gam", "ar", "naive")


class Harm(Exception):  # noqa: N818 -- it is what the bench looks for
    """Something was lost, learned twice, or answered wrongly."""


class Account:
    """What is known of one mixture of a server: requests, answers, and an uninterrupted replay."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = f"/v1/mixtures/{name}"
        self.told: dict[str, bytes] = {}
        self.unseen: set[str] = set()
        self.open: dict[str, tuple[str, Any]] = {}
        self.done: dict[str, tuple[str, Any]] = {}
        self.logged: dict[str, Any] = {}
        self.own = Mixture(**OPTIONS | {"history": LONG})
        self.last = 0

    def acknowledge(self, key: str, answer: bytes) -> None:
        """Note an answer; the same key must always get the same one."""
        if self.told.setdefault(key, answer) != answer:
            raise Harm(f"key {key} got {answer[:80]!r} after {self.told[key][:80]!r}")
        if key in self.open:
            self.done[key] = self.open.pop(key)
            if key not in self.logged:
                self.unseen.add(key)
            elif json.loads(answer) != self.logged[key]:
                raise Harm(f"key {key} got {answer[:80]!r}, its log says {self.logged[key]}")

    async def check(self, connection: Connection) -> None:
        """Compare with the log and the state of the server, while nobody sends."""
        path = f"{self.path}/log?events=true&after={self.last}"
        status, body = await connection.ask("GET", path)
        if status != 200:
            raise Harm(f"the log cannot be read: {status} {body[:200]!r}")
        for line in body.splitlines():
            self._event(json.loads(line))
        if self.unseen:
            raise Harm(f"{len(self.unseen)} acknowledged requests are not in the log")
        status, body = await connection.ask("GET", f"{self.path}/state")
        own = state_text(self.own).replace(f'"history": {LONG}', f'"history": {OPTIONS["history"]}')
        if status != 200 or _content(body.decode()) != _content(own):
            raise Harm(f"the state is not that of a replay: {status}")

    def _event(self, event: dict[str, Any]) -> None:
        """Repeat an event of the log; it must have been asked for, once, and answered so."""
        key, answer = event["key"], event["answer"]
        if event["sequence"] <= self.last or key in self.logged:
            raise Harm(f"event {event['sequence']} with key {key} is there twice")
        if key not in self.open and key not in self.done:
            raise Harm(f"nobody sent key {key}")
        self.last = event["sequence"]
        self.logged[key] = answer
        if key in self.told and json.loads(self.told[key]) != answer:
            raise Harm(f"key {key} was answered {self.told[key][:80]!r}, not {answer}")
        self.unseen.discard(key)
        body = event["body"]
        said = iter([a for a in answer.get("answers", [answer]) if "error" not in a])
        for operation in body if isinstance(body, list) else [body]:
            one = next(said)
            try:
                made = self.own.do(operation)
            except (ValueError, KeyError, TypeError) as error:
                raise Harm(f"{operation} of event {self.last} cannot be done: {error}") from error
            told = None if made is None else (made.ticket, made.value)
            if told is not None and told != (one["ticket"], one["prediction"]):
                raise Harm(f"event {self.last} was answered {one}, a replay says {told}")


def _content(state: str) -> str:
    """Return the text of a state without its checksum, and without the history.

    The replay keeps more of it.
    """
    return state.partition('"format"')[2].partition('"settled"')[0]


class Sender:
    """A client with tickets of its own, which sends requests of all kinds to one mixture."""

    def __init__(self, account: Account, number: int, rng: np.random.Generator) -> None:
        self.account, self.number, self.rng = account, number, rng
        self.count = 0
        self.tickets: list[int] = []
        self.settled: list[int] = []
        self.refused = 0

    def _request(self) -> tuple[str, Any]:
        """Return the verb and the body of a new request."""
        rng, draw = self.rng, self.rng.random()
        if draw < 0.5 or not self.tickets:
            return "predict", self._round()
        if draw < 0.88:
            return "outcome", self._outcome()
        if draw < 0.92:
            lines = [self._round() for _ in range(int(rng.integers(1, 40)))]
            return "rounds", {"rounds": [*lines, {"ticket": -1, "outcome": 1.0}, self._outcome()]}
        if draw < 0.96 and self.settled:
            ticket = self.settled[-int(rng.integers(1, min(len(self.settled), 5) + 1))]
            return "correct", {"ticket": ticket, "outcome": float(rng.normal())}
        new = f"e{self.number}-{self.count}"
        if draw < 0.97 and self.count < 60:
            return "experts", {"inherit": [new, NAMES[0]]}
        return "predict", {**self._round(), "id": new}

    def _round(self) -> dict[str, Any]:
        return {"forecasts": {name: float(self.rng.normal()) for name in NAMES}}

    def _outcome(self) -> dict[str, Any]:
        ticket = self.tickets.pop(int(self.rng.integers(len(self.tickets))))
        return {"ticket": ticket, "outcome": float(self.rng.normal())}

    def _learn(self, verb: str, answer: Any) -> None:
        """Note the tickets of an answer."""
        for one in answer["answers"] if verb == "rounds" else [answer]:
            if "ticket" in one:
                self.tickets.append(one["ticket"])
            elif "settled" in one:
                self.settled.append(one["settled"])

    @property
    def waiting(self) -> list[str]:
        """The keys of its requests that were not answered yet."""
        return [key for key in self.account.open if key.startswith(f"{self.number}-")]

    async def send(self, connection: Connection, *, patient: bool = False) -> None:
        """Send one request: one that was not answered yet, one again, or a new one."""
        account, mine = self.account, self.waiting
        again = not mine and self.rng.random() < 0.05 and self.count > 3
        if mine:
            key = mine[0]
            verb, body = account.open[key]
        elif again:
            keys = [f"{self.number}-{k}" for k in range(max(0, self.count - 20), self.count)]
            known = [key for key in keys if key in account.done]
            if not known:
                return
            key = str(self.rng.choice(known))
            verb, body = account.done[key]
        else:
            key, self.count = f"{self.number}-{self.count}", self.count + 1
            verb, body = account.open[key] = self._request()
        while True:
            status, answer = await connection.ask("POST", f"{account.path}/{verb}", body, key)
            if status == 503 and patient:
                await asyncio.sleep(0.05)
                continue
            break
        if status == 200:
            account.acknowledge(key, answer)
            if not again:
                self._learn(verb, json.loads(answer))
        elif status in {404, 409} and verb == "correct" and not again:
            self.refused += 1  # its round is too long ago, as after experts joined
            del account.open[key]
        elif status != 503:
            raise Harm(f"{verb} got {status}: {answer[:200]!r}")


async def load(
    url: str, senders: list[Sender], stop: Callable[[], bool], *, patient: bool = False
) -> None:
    """Let all send at once until it is time to stop, or the server is gone."""

    async def one(sender: Sender) -> None:
        async with Connection(url) as connection:
            while not stop():
                await sender.send(connection, patient=patient)

    done = await asyncio.gather(*map(one, senders), return_exceptions=True)
    for error in done:
        if isinstance(error, BaseException) and not isinstance(error, OSError):
            raise error
