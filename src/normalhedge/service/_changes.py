"""Answers to requests that change mixtures and routers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from normalhedge.service import _forms as forms
from normalhedge.service._calls import JSON, LINES, Call, Reply, StreamedReply
from normalhedge.service._compaction import compact, cut_of
from normalhedge.service._directory import Directory
from normalhedge.service._forms import decode, parse
from normalhedge.service._kind import Kind, Verb
from normalhedge.service._limits import check_name, check_parts
from normalhedge.service._live import Answered, Live
from normalhedge.service._problems import Problem
from normalhedge.service._registry import Registry

T = TypeVar("T")

Handler = Callable[[Call], Awaitable[Reply]]

SHORT, LONG = 50_000, 250_000
"""A body with more than SHORT bytes is read in a thread; with more than LONG, where it delays slow
work only."""


class Changes:
    """The handlers of requests that change the mixtures, or the routers, of a service."""

    def __init__(self, registry: Registry, directory: Directory, kind: Kind) -> None:
        self.registry = registry
        self.directory = directory
        self.kind = kind

    async def _read(self, call: Call, form: type[T]) -> tuple[Live, T]:
        """Return the object of a request, and its form."""
        call.require(JSON)
        return self.registry.find(call.name, self.kind), await self._decode(call, form)

    async def _decode(self, call: Call, form: type[T]) -> T:
        """Return the form that a body holds."""
        body = await call.content()
        if len(body) <= SHORT:
            return decode(body, form)
        check_parts(body, self.registry.limits)
        return await self.registry.at_work(decode, body, form, quick=len(body) <= LONG)

    async def create(self, call: Call) -> Reply:
        """Create one, with the settings of Python."""
        call.require(JSON)
        form: Any = await self._decode(call, self.kind.shapes.new)
        call.holder.check_name(form.name)
        options, thing = await self.registry.at_work(self.kind.new, form, self.registry.limits)
        return _reply(await self.directory.create(form.name, options, thing, call.key), 201)

    async def rename(self, call: Call) -> Reply:
        """Give it another name."""
        call.require(JSON)
        form = decode(await call.content(), forms.NewName)
        call.holder.check_name(form.name)
        return _reply(await self.directory.rename(self.kind, call.name, form.name, call.key))

    async def delete(self, call: Call) -> Reply:
        """Delete it."""
        return _reply(await self.directory.delete(self.kind, call.name, call.key))

    async def import_state(self, call: Call) -> Reply:
        """Create one from a state that was saved by Python."""
        call.require(JSON)
        check_name(call.name)
        body, limits = await call.content(self.registry.limits.state), self.registry.limits
        options, thing = await self.registry.at_work(self.kind.imported, body, limits)
        answered = await self.directory.create(call.name, options, thing, call.key, "import")
        return _reply(answered, 201)

    def does(self, verb: Verb) -> Handler:
        """Return the handler of a verb."""

        async def handler(call: Call) -> Reply:
            live, form = await self._read(call, verb.form)
            return await self._change(call, live, verb.kind, verb.line(form))

        return handler

    async def rounds(self, call: Call) -> Reply:
        """Do many lines of a stream in one request."""
        live, form = await self._read(call, forms.Rounds)
        return await self._change(call, live, lambda _: "batch", form.rounds)

    async def _change(
        self,
        call: Call,
        live: Live,
        kind: Callable[[Any], str],
        lines: dict[str, Any] | list[dict[str, Any]],
    ) -> Reply:
        """Do a line or several."""
        limit = self.registry.limits.rounds
        if isinstance(lines, list) and len(lines) > limit:
            raise Problem(422, f"one request must have at most {limit} rounds or outcomes")
        return _reply(await self.registry.change(live, kind(lines), lines, call.key))

    async def compact(self, call: Call) -> Reply:
        """Remove the old part of the log, as far as a restart does not need it."""
        live, form = await self._read(call, forms.Age)
        before = await cut_of(self.registry, form.keep_days)
        return Reply(forms.as_json(await compact(self.registry, live, before)))

    async def stream(self, call: Call) -> StreamedReply:
        """Answer JSON lines as the command line does, over one connection."""
        call.require(LINES, JSON)
        live = self.registry.find(call.name, self.kind)
        return StreamedReply(self._lines(call, live), media_type=LINES)

    async def _lines(self, call: Call, live: Live) -> AsyncIterator[bytes]:
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
