"""Answers to requests that change mixtures."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from normalhedge.boundary.terminal import clipped
from normalhedge.mixtures import Mixture
from normalhedge.mixtures.files import read_snapshot_text
from normalhedge.mixtures.state import HISTORY, SINGLE, MixtureState
from normalhedge.mixtures.streams import REFUSALS, refusal
from normalhedge.service import _forms as forms
from normalhedge.service._calls import JSON, LINES, Call, Reply, StreamedReply
from normalhedge.service._compaction import compact, cut_of
from normalhedge.service._directory import Directory
from normalhedge.service._forms import decode, parse
from normalhedge.service._limits import Limits, check_memory, check_name, check_parts, check_words
from normalhedge.service._live import Answered, LiveMixture
from normalhedge.service._problems import Problem
from normalhedge.service._registry import Registry, Requests

T = TypeVar("T")

SHORT, LONG = 50_000, 250_000
"""A body with more than SHORT bytes is read in a thread; with more than LONG, where it delays slow
work only."""


class Changes:
    """The handlers of requests that change mixtures."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.directory = Directory(registry)

    async def _read(self, call: Call, form: type[T]) -> tuple[LiveMixture, T]:
        """Return the mixture of a request, and its form."""
        call.require(JSON)
        return self.registry.find(call.name), await self._decode(call, form)

    async def _decode(self, call: Call, form: type[T]) -> T:
        """Return the form that a body holds."""
        body = await call.content()
        if len(body) <= SHORT:
            return decode(body, form)
        check_parts(body, self.registry.limits)
        return await self.registry.at_work(decode, body, form, quick=len(body) <= LONG)

    async def _change(self, call: Call, live: LiveMixture, kind: str, request: Any) -> Reply:
        return _reply(await self.registry.change(live, kind, request, call.key))

    async def create(self, call: Call) -> Reply:
        """Create a mixture."""
        call.require(JSON)
        form: Any = await self._decode(call, forms.NewMixture)
        call.holder.check_name(form.name)
        options = limit_options(form, self.registry.limits)
        try:
            mixture = Mixture(**options)
        except REFUSALS as error:
            raise Problem(422, refusal(error)) from error
        check_memory(mixture, self.registry.limits)
        return _reply(await self.directory.create(form.name, options, mixture, call.key), 201)

    async def rename(self, call: Call) -> Reply:
        """Give a mixture another name."""
        call.require(JSON)
        form = decode(await call.content(), forms.NewName)
        call.holder.check_name(form.name)
        return _reply(await self.directory.rename(call.name, form.name, call.key))

    async def delete(self, call: Call) -> Reply:
        """Delete a mixture."""
        return _reply(await self.directory.delete(call.name, call.key))

    async def import_state(self, call: Call) -> Reply:
        """Create a mixture from a state that Mixture.save wrote."""
        call.require(JSON)
        check_name(call.name)
        body = await call.content(self.registry.limits.state)
        mixture = await self.registry.at_work(_read_state, body, self.registry.limits)
        options = {"recipe": mixture.settings.to_plain()}
        check_memory(mixture, self.registry.limits)
        answered = await self.directory.create(call.name, options, mixture, call.key, "import")
        return _reply(answered, 201)

    async def predict(self, call: Call) -> Reply:
        """Blend the forecasts of a round; its ticket waits for the outcome."""
        live, form = await self._read(call, forms.RoundForecasts)
        return await self._change(call, live, "predict", forms.as_line(form))

    async def outcome(self, call: Call) -> Reply:
        """Learn from the outcome of a round: at once, late, in any order."""
        live, request = await self._settlement(call)
        return await self._change(call, live, "outcome", request)

    async def correct(self, call: Call) -> Reply:
        """Replace the outcome of a round that is settled."""
        live, request = await self._settlement(call)
        request["correct"] = request.pop("outcome")
        return await self._change(call, live, "correct", request)

    async def _settlement(self, call: Call) -> tuple[LiveMixture, dict[str, Any]]:
        live, form = await self._read(call, forms.Settlement)
        request = forms.as_line(form)
        if ("ticket" in request) == ("id" in request):
            raise Problem(422, "give the ticket or the id of the round, and not both")
        return live, request

    async def outcomes(self, call: Call) -> Reply:
        """Learn from many outcomes, each refused or learned on its own."""
        live, form = await self._read(call, forms.Settlements)
        return await self._batch(call, live, list(map(forms.as_line, form.outcomes)))

    async def rounds(self, call: Call) -> Reply:
        """Do many lines of a stream in one request: forecasts, outcomes, changes."""
        live, form = await self._read(call, forms.Rounds)
        return await self._batch(call, live, form.rounds)

    async def _batch(self, call: Call, live: LiveMixture, requests: Requests) -> Reply:
        most = self.registry.limits.rounds
        if len(requests) > most:
            raise Problem(422, f"one request must have at most {most} rounds or outcomes")
        return await self._change(call, live, "batch", requests)

    async def experts(self, call: Call) -> Reply:
        """Rename, retire or remove an expert, or let one inherit."""
        live, form = await self._read(call, forms.ExpertChange)
        request = forms.as_line(form)
        if len(request) != 1:
            raise Problem(422, "give exactly one of leave, retire, rename and inherit")
        return await self._change(call, live, next(iter(request)), request)

    async def compact(self, call: Call) -> Reply:
        """Remove the old part of the log, as far as a restart does not need it."""
        live, form = await self._read(call, forms.Age)
        before = await cut_of(self.registry, form.keep_days)
        return Reply(forms.as_json(await compact(self.registry, live, before)))

    async def stream(self, call: Call) -> StreamedReply:
        """Answer JSON lines as 'normalhedge blend -' does, over one connection."""
        call.require(LINES, JSON)
        live = self.registry.find(call.name)
        return StreamedReply(self._lines(call, live), media_type=LINES)

    async def _lines(self, call: Call, live: LiveMixture) -> AsyncIterator[bytes]:
        number, rest, longest = 0, b"", self.registry.limits.line
        async for chunk in _with_end(call.stream()):
            *lines, rest = (rest + chunk).split(b"\n") if chunk is not None else (rest, b"")
            if len(rest) > longest:
                yield _line({"line": number + 1, "error": "this line is too long"})
                return
            requests: list[dict[str, Any] | Problem] = []
            numbers: list[int] = []
            for line in lines:
                number += 1
                if line.strip():
                    numbers.append(number)
                    requests.append(_parse_line(line, longest))
            if not requests:
                continue
            try:
                answered = await self.registry.change(live, "batch", requests)
            except Problem as problem:
                yield _line({"line": numbers[0], "error": problem.sentence})
                return
            answers = msgspec.json.decode(answered.answer)["answers"]
            yield b"".join(_line({"line": k} | a) for k, a in zip(numbers, answers, strict=True))


async def _with_end(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes | None]:
    """Yield the chunks, and None at the end: the last line may have no line break."""
    async for chunk in chunks:
        yield chunk
    yield None


def _parse_line(line: bytes, longest: int) -> dict[str, Any] | Problem:
    """Return a line as an object, or why it is none."""
    if len(line) > longest:
        return Problem(413, "this line is too long")
    try:
        request = parse(line)
    except Problem as problem:
        return problem
    return request if isinstance(request, dict) else Problem(422, "a line must be a JSON object")


def _line(answer: dict[str, Any]) -> bytes:
    return msgspec.json.encode(answer) + b"\n"


def _reply(answered: Answered, status: int = 200) -> Reply:
    headers = {"idempotency-replayed": "true"} if answered.replayed else None
    return Reply(answered.answer, status, headers)


def limit_options(form: Any, limits: Limits) -> dict[str, Any]:
    """Return the arguments of `Mixture` that a form gives, within the limits of the server."""
    options = msgspec.structs.asdict(form)
    del options["name"]
    bounds = {"max_pending": limits.pending, "history": limits.history, "max_names": limits.experts}
    for name, bound in bounds.items():
        if options[name] is None:
            options[name] = min(bound, HISTORY) if name == "history" else bound
        elif options[name] > bound:
            raise Problem(422, f"{name} must be at most {bound} on this server")
    options = {name: value for name, value in options.items() if value is not None and value != []}
    # Options of a single rule choose one, where no hedger was named.
    if form.hedger == "auto" and any(getattr(form, name) not in (None, 0.0, []) for name in SINGLE):
        options["hedger"] = None
    return options


def _read_state(body: bytes, limits: Limits) -> Mixture:
    """Return the mixture of a state file, within the limits of the server."""
    try:
        state = read_snapshot_text(body, "the state", limits.memory).state
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
