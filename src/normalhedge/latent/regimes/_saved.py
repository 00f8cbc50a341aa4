"""Regimes in files: versioned JSON with a checksum, exact to the bit, written all or nothing."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import whole_files
from normalhedge.boundary.terminal import clipped, shown
from normalhedge.latent.models.emissions import Regression
from normalhedge.latent.regimes._rule import RegimesRule
from normalhedge.latent.regimes._schema import VERSION, Reader, Writer
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._state import RegimesState
from normalhedge.live import sealed_file
from normalhedge.live.journal import Operation, journal_of, replay

FORMAT = "normalhedge regimes"

ATTEMPTS = 5  # how often a file is read again if a stream folds its journal at the same time
MOST_STATES = 1000  # the largest number of states that is accepted


def write(
    settings: RegimesSettings, state: RegimesState, path: Path, extra: dict[str, Any] | None = None
) -> int:
    """Write regimes to a file, or leave the old one if anything fails; return its size in bytes."""
    writer = Writer()
    # The bank follows from the candidates, and fits are done again.
    settled = RegimesRule(settings).settle(state)
    root = writer.plain((settings, settled._replace(bank=None, fits=())))
    content = {"format": FORMAT, "version": VERSION, "extra": extra or {}, "root": root}
    text = sealed_file.sealed({**content, "objects": writer.objects})
    whole_files.write_whole(path, lambda part: part.write_text(text, "ascii"))
    return len(text)


def load(path: Path) -> tuple[RegimesRule, RegimesState]:
    """Return the regimes of a file, and learn the observations in the journal beside it."""
    for attempt in range(ATTEMPTS):
        rule, state, extra = read(path)
        try:
            return rule, _replay(path, rule, state, extra)
        except ValueError:
            # A stream may have folded its journal between the two reads.
            if attempt == ATTEMPTS - 1 or read(path)[2] == extra:
                raise
    raise AssertionError


def _replay(
    path: Path, rule: RegimesRule, state: RegimesState, extra: dict[str, Any]
) -> RegimesState:
    """Return the state after the observations in the journal."""

    def redo(operation: Operation) -> None:
        nonlocal state
        state = rule.observe(state, from_journal(operation["observe"]), operation.get("given"))

    replay(journal_of(path), redo, extra.get("sequence", 0), extra.get("journal", ""))
    return state


def from_journal(value: float | list[float | None] | None) -> list[float]:
    """Return an observation of a journal as numbers, NaN where missing."""
    parts = value if isinstance(value, list) else [value]
    return [math.nan if part is None else float(part) for part in parts]


def read(path: Path) -> tuple[RegimesRule, RegimesState, dict[str, Any]]:
    """Return the regimes of a file, and its further entries."""
    content = sealed_file.read(path, FORMAT, range(1, VERSION + 1), 1, "regimes")
    try:
        extra, objects = content["extra"], content["objects"]
        if not isinstance(objects, list) or not isinstance(extra, dict):
            raise ValueError("objects must be a list, and extra an object")
        with np.errstate(all="ignore"):
            rule, state = _check(Reader(objects, content["version"]).value(content["root"]))
    except KeyError as error:
        raise ValueError(f"{path} cannot be read: {clipped(str(error))} is missing") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} cannot be read: {clipped(shown(str(error)))}") from None
    except (AssertionError, RecursionError, MemoryError):
        raise ValueError(f"{path} cannot be read: its parts do not fit together") from None
    return rule, state, extra


def _check(root: Any) -> tuple[RegimesRule, RegimesState]:
    """Return the rule and the state; refuse a state that cannot continue, by a trial."""
    if type(root) is not tuple or [type(part) for part in root] != [RegimesSettings, RegimesState]:
        raise ValueError("the root object is not of the class Regimes")
    settings, state = root
    if settings.most > MOST_STATES:
        raise ValueError("numbers of states must be whole numbers")
    if type(state.rounds) is not int or state.rounds < 0:
        raise ValueError("rounds must be a whole number")
    rule = RegimesRule(settings)
    state = rule.restore(state)
    state.labels.parameters()
    covariates = state.emission == Regression.family
    rule.forecast(state, 2, np.zeros((2, len(state.previous) - 1)) if covariates else None)
    if state.bank is not None:
        rule.settle(rule.learn(state, np.full((1, len(state.previous)), np.nan)))
    return rule, state
