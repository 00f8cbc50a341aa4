"""Files of regimes of version 1, in which every object had its attributes at the time."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.latent.models import OnlineEM
from normalhedge.latent.regimes._candidates import Candidate
from normalhedge.latent.regimes._lineup import CandidateFilters, Lineup
from normalhedge.latent.regimes._matching import Identity
from normalhedge.latent.regimes._naming import Naming
from normalhedge.latent.regimes._rule import RegimesRule, RegimesState
from normalhedge.latent.regimes._saved_objects import FAMILY_CLASSES, Reader
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._slate import Board

ATTRIBUTES = {
    "Candidate": "recipe fitted filtered since due fresh online",
    "Identity": "_most _known _age numbers",
    "Lineup": "candidates _width _fixed _online _families _moves _beliefs",
    "Naming": "_most _worth _identity _ahead _rounds _groups _leave _alike maps model _recipe",
    "OnlineEM": "forgetting _relative _family _centre _width _place _scale _log_width _transition "
    "_rows _filter _guards _arrays _settings _template",
    "Regimes": "emission numbers _budget _weighing _worth _symbols _rng rounds _observed history "
    "_most _naming _now _switch _slate _lineup _seen _previous",
    "Slate": "candidates standing _recipes _always _numbers _freely _budget _rng _symbols _closed",
    "Weighing": "_hedger _state",
    "_Family": "_rows _emission _states _places _name",
}
"""The attributes of the classes that were written, by name."""


class _Reader(Reader):
    """Makes the objects of a file of version 1: those that were open have their attributes only."""

    def instance(self, plain: dict[str, Any], own: dict[str, Any]) -> Any:
        """Return an object; see `Reader`."""
        name = plain.get("open", plain.get("data"))
        if name not in ATTRIBUTES:
            return super().instance(plain, own)
        odd = sorted(own.keys() ^ set(ATTRIBUTES[name].split()))
        if odd:
            raise ValueError(f"{clipped(repr(odd[0]), 40)} of {name} is missing or unknown")
        return SimpleNamespace(kind=name, **own)

    def _object(self, plain: dict[str, Any]) -> Any:
        if "family" in plain:
            return FAMILY_CLASSES[plain["family"]]
        return super()._object(plain)


def read_version_1(objects: list[Any], root: Any) -> tuple[RegimesSettings, RegimesState]:
    """Return the settings and the state of a file."""
    old = _Reader(objects).value(root)
    if getattr(old, "kind", None) != "Regimes":
        raise ValueError("the root object is not of the class Regimes")
    settings = RegimesSettings(
        old.emission,
        old.numbers,
        budget=old._budget,
        hedger=old._weighing._hedger,
        worth=old._worth,
        symbols=old._symbols,
    )
    state = (
        RegimesRule(settings)
        .init()
        ._replace(
            emission=None if old._slate is None else old.emission,
            rounds=old.rounds,
            observed=old._observed,
            seen=tuple(old._seen),
            previous=old._previous,
            game=old._weighing._state,
            naming=_naming(old._naming),
            now=old._now,
            switch=old._switch,
            history=tuple(old.history),
            rng=old._rng,
        )
    )
    if old._lineup is None:
        return settings, state
    candidates = tuple(_candidate(one) for one in old._slate.candidates)
    filters = Lineup(candidates, settings.most).init()
    # The last filter has other bits than the product of probabilities and transitions.
    filters = CandidateFilters(old._lineup._beliefs, filters.filtered, filters.online)
    board = Board(candidates, old._slate.standing, old._slate._closed)
    return settings, state._replace(board=board, filters=filters)


def _candidate(old: Any) -> Candidate:
    online = None
    if old.online is not None:
        mine = old.online
        rate, relative = mine._settings
        online = OnlineEM.of_parts(
            mine._template,
            mine.forgetting,
            mine._centre,
            mine._width,
            np.array([rate, relative, *mine._guards]),
            np.concatenate([part.ravel() for part in mine._arrays[:-1]]),
        )
    return Candidate(old.recipe, old.fitted, old.filtered, old.since, old.due, old.fresh, online)


def _naming(old: Any) -> Naming:
    identity = Identity(old._identity._age, old._identity.numbers, old._identity._known)
    return Naming(
        identity,
        old._ahead,
        old._rounds,
        old._groups,
        old.maps,
        old._leave,
        old._alike,
        old.model,
        old._recipe,
    )
