"""``normalhedge latent -``: regimes of a stream."""

from typing import Any

import click

from normalhedge.cli._streaming import run_stream
from normalhedge.latent import Live
from normalhedge.latent.regimes import Encoding, RegimesFile, RegimesStream, new_regimes
from normalhedge.live.journal import Operation


def new_live(given: dict[str, Any], chosen: dict[str, Any]) -> Live:
    """Return regimes without observations, for the kind of observations in the options."""
    code = _code(given)
    return Live(new_regimes(code, **chosen), code)


def _code(given: dict[str, Any]) -> Encoding:
    kind, above, symbols = given["kind"], given["above"], given["symbols"]
    columns = given["columns"]
    if above is not None:
        if symbols or len(columns) > 1 or kind not in {None, "symbols"}:
            raise click.UsageError(
                "--above needs one column of numbers, which it turns into two symbols"
            )
        return Encoding("symbols", (f"at most {above:g}", f"above {above:g}"), above)
    if symbols or kind == "symbols":
        if len(symbols) < 2 or len(set(symbols)) < len(symbols):
            raise click.UsageError("a stream of symbols needs --symbols A,B,..., all different")
        if kind not in {None, "symbols"} or len(columns) > 1:
            raise click.UsageError("--symbols needs one column of symbols")
        return Encoding("symbols", symbols)
    if len(columns) > 1:
        if kind not in {None, "numbers"} or len(set(columns)) < len(columns):
            raise click.UsageError("several columns must be numbers, with different names")
        return Encoding("numbers", columns=columns)
    return Encoding(kind or "numbers")


def run_latent_stream(live: Live, kept: RegimesFile | None, level: float, longest: int) -> None:
    """Answer the lines of stdin."""
    done: list[Operation] = []
    stream = RegimesStream(live, level, done.append if kept is not None else None)
    run_stream(stream, live, done, kept, longest)
