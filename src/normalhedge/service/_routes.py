"""The table of routes: where a request goes, who may send it, and what the document says of it."""

from typing import Any, NamedTuple

from normalhedge.service import _forms as forms
from normalhedge.service._http import Handler, Handling


class Parameter(NamedTuple):
    """A parameter in the query of an address."""

    # name, description: its name, and what it means
    name: str
    description: str
    schema: dict[str, Any]  # its JSON schema


class Route(NamedTuple):
    """A route."""

    # method, path: as in HTTP; ``{name}`` stands for the name of a mixture
    method: str
    path: str
    scope: str  # what a token must allow; empty for everybody
    handler: Handler  # the function that answers
    summary: str  # what it does, in a sentence
    # request, answer: the forms of the request and of the answer; None if there is none, or it is
    # no JSON
    request: Any = None
    answer: Any = None
    status: int = 200  # the status of success
    media: str = "application/json"  # the type of the answer
    takes: str = "application/json"  # the type of the request
    keyed: bool = False  # whether an idempotency key is used
    query: tuple[Parameter, ...] = ()  # the parameters in the address

    @property
    def label(self) -> str:
        """A word for metrics, logs and the document."""
        return self.handler.__name__


ONE = "/v1/mixtures/{name}"

TIME = {"type": "number"}
SINCE = Parameter("since", "Only rounds settled since this time, in seconds since 1970.", TIME)
UNTIL = Parameter("until", "Only rounds settled until this time, in seconds since 1970.", TIME)
LIMIT = Parameter(
    "limit", "The largest number of rounds; the last ones.",
    {"type": "integer", "minimum": 1, "maximum": 10000, "default": 500},
)  # fmt: skip
SEQUENCE = Parameter(
    "sequence",
    "The state after this event; 0 for the oldest state from which the log can be replayed.",
    {"type": "integer", "minimum": 0},
)
AFTER = Parameter("after", "Only events after this sequence.", {"type": "integer", "minimum": 0})
WHOLE = Parameter(
    "events", "Whether to write events with their answers, and not lines.", {"type": "boolean"}
)
LINES = "application/x-ndjson"


def routes(changes: Any, views: Any, broadcast: Any, operations: Any) -> list[Route]:
    """Return all routes."""
    c, v, b, o = changes, views, broadcast, operations
    return [
        Route("POST", f"{ONE}/predict", "write", c.predict,
              "Blend the forecasts of a round; its ticket waits for the outcome.",
              forms.RoundForecasts, forms.PredictionAnswer, keyed=True),
        Route("POST", f"{ONE}/outcome", "write", c.outcome,
              "Learn from the outcome of a round: at once, late, in any order.",
              forms.Settlement, forms.SettledAnswer, keyed=True),
        Route("POST", f"{ONE}/outcomes", "write", c.outcomes,
              "Learn from many outcomes, each refused or learned on its own.",
              forms.Settlements, forms.Answers, keyed=True),
        Route("POST", f"{ONE}/rounds", "write", c.rounds,
              "Do many lines of a stream in one request: forecasts, outcomes, changes.",
              forms.Rounds, forms.Answers, keyed=True),
        Route("POST", f"{ONE}/correct", "write", c.correct,
              "Replace the outcome of a round that is settled.",
              forms.Settlement, forms.CorrectedAnswer, keyed=True),
        Route("POST", f"{ONE}/experts", "write", c.experts,
              "Rename, retire or remove an expert, or let one inherit.",
              forms.ExpertChange, forms.ChangedAnswer, keyed=True),
        Route("POST", f"{ONE}/stream", "write", c.stream,
              "Answer JSON lines as 'normalhedge blend -' does, over one connection.",
              media=LINES, takes=LINES),
        Route("POST", f"{ONE}/peek", "read", v.peek,
              "Return what a prediction would be; nothing changes.",
              forms.Glance, forms.GlanceAnswer),
        Route("GET", "/v1/mixtures", "read", v.mixtures, "List the mixtures with their health.",
              answer=forms.MixtureList),
        Route("POST", "/v1/mixtures", "admin", c.create, "Create a mixture.",
              forms.NewMixture, forms.MixtureAnswer, status=201, keyed=True),
        Route("GET", ONE, "read", v.mixture, "Return a mixture, its settings and experts.",
              answer=forms.Details),
        Route("PATCH", ONE, "admin", c.rename, "Give a mixture another name.",
              forms.NewName, forms.MixtureAnswer, keyed=True),
        Route("DELETE", ONE, "admin", c.delete, "Delete a mixture.",
              answer=forms.MixtureAnswer, keyed=True),
        Route("GET", f"{ONE}/summary", "read", v.summary,
              "Compare the blend with its experts and with plain combinations.",
              answer=forms.SummaryAnswer),
        Route("GET", f"{ONE}/history", "read", v.history,
              "Return settled rounds with their weights and losses, by range of time.",
              answer=forms.PastRounds, query=(SINCE, UNTIL, LIMIT)),
        Route("GET", f"{ONE}/pending", "read", v.pending,
              "List the rounds that wait for their outcomes.", answer=forms.PendingPage),
        Route("GET", f"{ONE}/state", "read", v.state,
              "Export the state, in the format of Mixture.save.", answer=dict[str, Any],
              query=(SEQUENCE,)),
        Route("PUT", f"{ONE}/state", "admin", c.import_state,
              "Create a mixture from a state that Mixture.save wrote.",
              dict[str, Any], forms.MixtureAnswer, status=201, keyed=True),
        Route("GET", f"{ONE}/log", "read", v.log,
              "Export the log as lines that 'normalhedge blend -' replays to the same numbers.",
              media=LINES, query=(AFTER, WHOLE)),
        Route("POST", f"{ONE}/compact", "admin", o.compact,
              "Remove the old part of the log, as far as a restart does not need it.",
              forms.Age, forms.CompactedAnswer),
        Route("GET", f"{ONE}/events", "read", b.mixture_events,
              "Tell what happens to a mixture, as it does.", media="text/event-stream"),
        Route("GET", "/v1/events", "read", b.events, "Tell the health of mixtures, as it changes.",
              media="text/event-stream"),
        Route("GET", "/healthz", "", o.healthz, "Tell that the process answers.",
              answer=forms.ServerState),
        Route("GET", "/readyz", "", o.readyz, "Tell whether the database can be used.",
              answer=forms.ServerState),
        Route("GET", "/metrics", "read", o.metrics, "Return numbers for Prometheus.",
              media="text/plain"),
        Route("GET", "/openapi.json", "", o.openapi, "Return this document.",
              answer=dict[str, Any]),
    ]  # fmt: skip


def table(known: list[Route]) -> dict[tuple[str, str], Handling]:
    """Return the routes by method and path."""
    return {
        (route.method, route.path): Handling(route.label, route.scope, route.handler)
        for route in known
    }
