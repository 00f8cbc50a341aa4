"""Lines for a stream, and what the answers to them must be: an uninterrupted mixture beside it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.mixtures import Mixture
from tests.torture.snapshot import Snapshot, difference, snapshot

Line = dict[str, Any]


class Ledger:
    """A mixture that takes exactly the lines that were answered."""

    def __init__(self) -> None:
        self.mixture = Mixture()
        self.ids: dict[str, int] = {}
        self.settled: list[int] = []
        self.born = 0

    def lines(self, count: int, rng: np.random.Generator, newcomers: float) -> list[Line]:
        """Return lines that continue: rounds with new names now and then, late outcomes."""
        ticket, open_ = self.mixture.next_ticket, list(self.mixture.pending)
        named = {ticket: name for name, ticket in self.ids.items()}
        names = self.mixture.names[-8:] or ["a", "b", "c"]
        found: list[Line] = []
        for u, v, w in rng.uniform(size=(count, 3)):
            if open_ and u < 0.45:
                settled = open_.pop(int(v * len(open_)) if w < 0.3 else 0)
                by: Line = {"id": named[settled]} if settled in named else {"ticket": settled}
                found.append(by | {"outcome": round(10 * float(v), 3)})
                continue
            if v < newcomers:
                self.born += 1
                names = [*names[-7:], f"new{self.born}"]
            said = {name: round(10 * float(w) + k, 3) for k, name in enumerate(names)}
            if u < 0.7:
                found.append(said)
            else:
                name = f"id{ticket}-{self.born}-{rng.integers(1 << 30)}"
                named[ticket] = name
                found.append({"forecasts": said, "id": name})
            open_.append(ticket)
            ticket += 1
        return found

    def take(self, line: Line) -> Line:
        """Take a line; return the answer that is due."""
        if "outcome" in line:
            ticket = self.ids.pop(line["id"]) if "id" in line else line["ticket"]
            self.mixture.update(ticket, line["outcome"])
            self.settled.append(ticket)
            return {"settled": ticket}
        made = self.mixture.predict(line.get("forecasts", line))
        answer: Line = {"ticket": made.ticket}
        if "id" in line:
            self.ids[line["id"]] = made.ticket
            answer["id"] = line["id"]
        return {**answer, "prediction": made.value, "weights": made.weights}

    def check(self, lines: list[Line], answers: list[Line]) -> str | None:
        """Take the lines that were answered; return what is wrong with the answers, or None."""
        for line, answer in zip(lines, answers, strict=False):
            due = self.take(line)
            got = {key: value for key, value in answer.items() if key != "line"}
            if got != due:
                return f"line {json.dumps(line)[:80]} got {str(got)[:90]}, not {str(due)[:90]}"
        if len(answers) > len(lines):
            return f"{len(answers)} answers to {len(lines)} lines"
        return None

    def probe(self) -> Line:
        """Return a round whose answer shows where the mixture stands."""
        return {name: 1.0 + k % 7 for k, name in enumerate(self.mixture.names or ["a"])}

    def probes(self, rng: np.random.Generator) -> tuple[list[Line], list[Line]]:
        """Return outcomes that were settled, and must be refused; and those that still wait."""
        again = [self.settled[k] for k in rng.permutation(len(self.settled))[:30]]
        again = sorted({*again, *self.settled[-10:]})
        wait = list(self.mixture.pending)
        wait = wait[-15:] + [wait[k] for k in rng.permutation(max(len(wait) - 15, 0))[:15]]
        return (
            [{"ticket": ticket, "outcome": 1.0} for ticket in again],
            [{"ticket": ticket, "outcome": 2.0} for ticket in wait],
        )

    def catch_up(self, lines: list[Line], state: Path) -> str | None:
        """Take further lines, which were not answered, until the mixture is that of a file.

        Returns what is wrong if it never is.
        """
        try:
            found = Mixture.load(state) if state.exists() else Mixture()
        except ValueError as error:
            return str(error)
        due, count = self.mixture.next_ticket, len(self.mixture.pending)
        if found.next_ticket < due:
            return f"{due} is the next ticket, in the file it is {found.next_ticket} again"
        for line in [*lines, None]:
            own = self.mixture
            # Every line changes one of these.
            if found.next_ticket == own.next_ticket and list(found.pending) == list(own.pending):
                named = {json.dumps(name): ticket for name, ticket in self.ids.items()}
                return difference(_seen(found, found.ids), _seen(own, named))
            if line is not None:
                self.take(line)
        said = f"next ticket {found.next_ticket}, {len(found.pending)} pending"
        return f"the file is none of those due: {said}, not {due}, {count}"


def _seen(mixture: Mixture, ids: dict[str, int]) -> Snapshot:
    """Return all that is to be compared, with these ids as JSON."""
    return {**snapshot(mixture, history=False), "ids": dict(sorted(ids.items()))}
