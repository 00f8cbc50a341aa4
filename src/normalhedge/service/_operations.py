"""Answers for those who run the service: health, metrics and the OpenAPI document."""

import time

import normalhedge
from normalhedge.service import _compaction as compaction, _forms as forms
from normalhedge.service._bodies import decoded
from normalhedge.service._compaction import DAY
from normalhedge.service._forms import as_json
from normalhedge.service._http import JSON, Call, Reply
from normalhedge.service._metrics import Metrics
from normalhedge.service._registry import Registry


class Operations:
    """The handlers of requests about the service itself."""

    def __init__(self, registry: Registry, metrics: Metrics) -> None:
        self.registry = registry
        self.numbers = metrics
        self.document = b"{}"
        self.stopping = False

    async def healthz(self, call: Call) -> Reply:
        """Tell that the process answers."""
        del call
        return Reply(as_json({"ok": True, "version": normalhedge.__version__}))

    async def readyz(self, call: Call) -> Reply:
        """Tell whether the database can be used."""
        del call
        ready = self.registry.ready and not self.stopping
        answer = as_json({"ok": ready, "version": normalhedge.__version__})
        return Reply(answer, 200 if ready else 503)

    async def metrics(self, call: Call) -> Reply:
        """Return numbers for Prometheus."""
        return Reply(
            self.numbers.text(call.holder.sees), kind=b"text/plain; version=0.0.4; charset=utf-8"
        )

    async def compact(self, call: Call) -> Reply:
        """Remove the old part of the log of a mixture."""
        call.require(JSON)
        live = self.registry.find(call.name)
        form = decoded(await call.body(), forms.Age)
        done = await compaction.compact(self.registry, live, time.time() - form.keep_days * DAY)
        return Reply(as_json(done._asdict()))

    async def openapi(self, call: Call) -> Reply:
        """Return the OpenAPI document."""
        del call
        return Reply(self.document)
