"""Answers to requests that change mixtures."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec

from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.files import read_snapshot_text
from normalhedge.mixtures.state import SINGLE, MixtureState
from normalhedge.mixtures.streams import REFUSALS, refusal
from normalhedge.service import _forms as forms
from normalhedge.service._bodies import decoded, parsed
from normalhedge.service._directory import Directory
from normalhedge.service._http import JSON, LINES, Call, Reply
from normalhedge.service._limits import Limits, check_name, check_words
from normalhedge.service._live import Answered, LiveMixture
from normalhedge.service._problems import Problem
from normalhedge.service._registry import Registry, Requests

HISTORY = 100
"""The settled rounds that a mixture keeps by default: fewer than `Mixture` alone, as a server has
many mixtures; each of these rounds takes 1 kB with 20 experts."""

NOT_AN_ARGUMENT = {"name"}
"""Fields of `NewMixture` that are no arguments of `Mixture`."""


class Changes:
    """The handlers of requests that change mixtures."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.directory = Directory(registry)

    async def create(self, call: Call) -> Reply:
        """Create a mixture."""
        call.require(JSON)
        form: Any = decoded(await call.body(), forms.NewMixture)
        if not call.holder.sees(form.name):
            raise Problem(403, "this token is for mixtures of other names")
        options = limited(form, self.registry.limits)
        try:
            mixture = Mixture(**options)
        except REFUSALS as error:
            raise Problem(422, refusal(error)) from error
        return _reply(await self.directory.create(form.name, options, mixture, call.key), 201)

    async def rename(self, call: Call) -> Reply:
        """Give a mixture another name."""
        call.require(JSON)
        form = decoded(await call.body(), forms.NewName)
        if not call.holder.sees(form.name):
            raise Problem(403, "this token is for mixtures of other names")
        return _reply(await self.directory.rename(call.name, form.name, call.key))

    async def delete(self, call: Call) -> Reply:
        """Delete a mixture."""
        return _reply(await self.directory.delete(call.name, call.key))

    async def import_state(self, call: Call) -> Reply:
        """Create a mixture from a state file."""
        call.require(JSON)
        check_name(call.name)
        body = await call.body(self.registry.limits.state)
        mixture = await self.registry.in_thread(_imported, body, self.registry.limits)
        options = {"recipe": mixture.settings.to_plain()}
        answered = await self.directory.create(call.name, options, mixture, call.key, "import")
        return _reply(answered, 201)

    async def predict(self, call: Call) -> Reply:
        """Predict a round."""
        call.require(JSON)
        live = self.registry.find(call.name)
        request = forms.given(decoded(await call.body(), forms.RoundForecasts))
        return _reply(await self.registry.change(live, "predict", request, call.key))

    async def outcome(self, call: Call) -> Reply:
        """Learn from an outcome."""
        return await self._settle(call, "outcome")

    async def correct(self, call: Call) -> Reply:
        """Replace an outcome."""
        return await self._settle(call, "correct")

    async def _settle(self, call: Call, kind: str) -> Reply:
        call.require(JSON)
        live = self.registry.find(call.name)
        request = forms.given(decoded(await call.body(), forms.Settlement))
        if ("ticket" in request) == ("id" in request):
            raise Problem(422, "give the ticket or the id of the round, and not both")
        if kind == "correct":
            request["correct"] = request.pop("outcome")
        return _reply(await self.registry.change(live, kind, request, call.key))

    async def outcomes(self, call: Call) -> Reply:
        """Learn from many outcomes."""
        call.require(JSON)
        live = self.registry.find(call.name)
        form = decoded(await call.body(), forms.Settlements)
        return await self._many(call, live, [forms.given(one) for one in form.outcomes])

    async def rounds(self, call: Call) -> Reply:
        """Do many lines of a stream in one request."""
        call.require(JSON)
        live = self.registry.find(call.name)
        form = decoded(await call.body(), forms.Rounds)
        return await self._many(call, live, form.rounds)

    async def _many(self, call: Call, live: LiveMixture, requests: Requests) -> Reply:
        most = self.registry.limits.rounds
        if len(requests) > most:
            raise Problem(422, f"one request must have at most {most} rounds or outcomes")
        return _reply(await self.registry.change(live, "batch", requests, call.key))

    async def experts(self, call: Call) -> Reply:
        """Rename, retire, remove an expert, or let one inherit."""
        call.require(JSON)
        live = self.registry.find(call.name)
        request = forms.given(decoded(await call.body(), forms.ExpertChange))
        if len(request) != 1:
            raise Problem(422, "give exactly one of leave, retire, rename and inherit")
        ((kind, names),) = request.items()
        words = names if isinstance(names, list) else [names]
        check_words(words, self.registry.limits, "an expert")
        return _reply(await self.registry.change(live, kind, request, call.key))

    async def stream(self, call: Call) -> Reply:
        """Answer lines as `normalhedge blend -` does, over one connection."""
        call.require(LINES, JSON)
        live = self.registry.find(call.name)
        return Reply(self._lines(call, live), kind=LINES)

    async def _lines(self, call: Call, live: LiveMixture) -> AsyncIterator[bytes]:
        number, rest, longest = 0, b"", self.registry.limits.line
        async for chunk in _with_end(call.chunks()):
            *lines, rest = (rest + chunk).split(b"\n") if chunk is not None else (rest, b"")
            if len(rest) > longest:
                yield _line({"line": number + 1, "error": "this line is too long"})
                return
            requests: list[dict[str, Any] | Problem] = []
            answers: list[dict[str, Any]] = []
            for line in lines:
                number += 1
                if line.strip():
                    answers.append({"line": number})
                    requests.append(_request(line, longest))
            if not requests:
                continue
            try:
                answered = await self.registry.change(live, "batch", requests)
            except Problem as problem:
                yield _line({"line": answers[0]["line"], "error": problem.sentence})
                return
            said = msgspec.json.decode(answered.answer)["answers"]
            yield b"".join(_line(a | b) for a, b in zip(answers, said, strict=True))


async def _with_end(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes | None]:
    """Yield what there is, and None at the end: the last line may have no line break."""
    async for chunk in chunks:
        yield chunk
    yield None


def _request(line: bytes, longest: int) -> dict[str, Any] | Problem:
    """Return a line as an object, or why it is none."""
    if len(line) > longest:
        return Problem(413, "this line is too long")
    try:
        found = parsed(line)
    except Problem as problem:
        return problem
    if not isinstance(found, dict):
        return Problem(422, "a line must be a JSON object")
    return found


def _line(answer: dict[str, Any]) -> bytes:
    return msgspec.json.encode(answer) + b"\n"


def _reply(answered: Answered, status: int = 200) -> Reply:
    headers = ((b"idempotency-replayed", b"true"),) if answered.replayed else ()
    return Reply(answered.answer.encode(), status, headers=headers)


def limited(form: Any, limits: Limits) -> dict[str, Any]:
    """Return the arguments of `Mixture` that a form gives, within the limits of the server."""
    given = msgspec.structs.asdict(form)
    most = {
        "max_pending": limits.pending,
        "history": min(limits.history, HISTORY),
        "max_names": limits.experts,
    }
    bounds = {"max_pending": limits.pending, "history": limits.history, "max_names": limits.experts}
    for name, bound in bounds.items():
        if given[name] is None:
            given[name] = most[name]
        elif given[name] > bound:
            raise Problem(422, f"{name} must be at most {bound} on this server")
    return {
        name: value
        for name, value in given.items()
        if name not in NOT_AN_ARGUMENT and value is not None and value != []
    } | ({"hedger": None} if form.hedger == "auto" and _single(form) else {})


def _single(form: Any) -> bool:
    """Tell whether options belong to a single rule, where no hedger was named."""
    return any(getattr(form, name) not in (None, 0.0, []) for name in SINGLE)


def _imported(body: bytes, limits: Limits) -> Mixture:
    """Return the mixture of a state file, within the limits of the server."""
    try:
        state = read_snapshot_text(body, "the state").state
    except ValueError as error:
        raise Problem(422, clipped(str(error))) from error
    if len(state.names) > limits.experts or len(state.items) > limits.items:
        raise Problem(422, "the state has more experts or items than this server allows")
    if state.settings.max_pending > limits.pending or state.settings.history > limits.history:
        raise Problem(422, "the state allows more pending rounds or history than this server")
    check_words(state.names, limits, "an expert")
    check_words(state.items, limits, "an item")
    most = min(state.settings.max_names, limits.experts)
    return Mixture.of(MixtureState(replace(state.settings, max_names=most), state.live))
