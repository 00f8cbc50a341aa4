"""The objects of a file of regimes, as JSON, in all versions.

The file is a list of objects that refer to each other by their place in the list, so that shared
objects stay shared and nothing is nested deeply. Arrays are stored as bytes in base 64. A file can
only make objects of the classes named here.
"""

import base64
import binascii
import math
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.hedgers import HEDGERS, State
from normalhedge.latent.models import Fitted, Job, OnlineEM
from normalhedge.latent.models.emissions import ALL
from normalhedge.latent.regimes._candidates import CandidatePool
from normalhedge.latent.regimes._filter_bank import CandidateFilters, FilterBank
from normalhedge.latent.regimes._matching import Identity
from normalhedge.latent.regimes._recipes import (
    Candidate,
    LearningRecipe,
    Order,
    Pending,
    SeriesCandidate,
)
from normalhedge.latent.regimes._regime_labels import Parameters, RegimeLabels
from normalhedge.latent.regimes._rule import RegimesRule
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._state import RegimesState
from normalhedge.latent.regimes._surprise import Surprise

VERSION = 3

DTYPES = ("<f8", "<i8", "<u4", "<u8", "|b1")
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")

TUPLES: dict[str, Any] = {
    "Board": CandidatePool,
    "Candidate": Candidate,
    "CandidateFilters": CandidateFilters,
    "Identity": Identity,
    "Job": Job,
    "LearningRecipe": LearningRecipe,
    "Naming": RegimeLabels,
    "Order": Order,
    "Parameters": Parameters,
    "Pending": Pending,
    "RegimesState": RegimesState,
    "SeriesCandidate": SeriesCandidate,
    "State": State,
    "Surprise": Surprise,
}
"""The named tuples, by the names that files have for them."""

# the data classes, by their names
DATA: dict[str, Any] = {cls.__name__: cls for cls in (Fitted, RegimesSettings, *ALL.values())}

TUPLE_NAMES = {cls: name for name, cls in TUPLES.items()}


@cache
def _instances() -> dict[tuple[str, str], Any]:
    """Return the classes whose fields are written, by a kind and a name."""
    hedgers = (getattr(hedger, "__self__", hedger) for hedger in HEDGERS.values())
    classes = {("hedger", cls.__name__): cls for cls in hedgers}
    return classes | {("data", name): cls for name, cls in DATA.items()}


class Writer:
    """Turns objects into JSON, each of them once."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []

    def plain(self, value: Any) -> Any:
        """Return a value as JSON."""
        if value is None or isinstance(value, str | bool | np.bool_ | int | np.integer | float):
            return _write_scalar(value)
        name = "" if type(value) is tuple else TUPLE_NAMES.get(type(value))
        if name is not None:
            return {"tuple": name, "of": [self.plain(part) for part in value]}
        if type(value) is dict:
            pairs = [[self.plain(key), self.plain(part)] for key, part in value.items()]
            return {"pairs": pairs}
        return {"at": self._place(value)}

    def _place(self, value: Any) -> int:
        if id(value) not in self._places:
            place = self._places[id(value)] = len(self.objects)
            self._kept.append(value)  # so that no other object gets its id
            self.objects.append(None)
            self.objects[place] = self._object(value)
        return self._places[id(value)]

    def _object(self, value: Any) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return _write_array(value)
        if type(value) is list:
            return {"list": [self.plain(part) for part in value]}
        if isinstance(value, np.random.Generator):
            return {"generator": self.plain(value.bit_generator.state)}
        if type(value) is OnlineEM:
            return {"online": self.plain(value.parts())}
        name = type(value).__name__
        for kind in ("hedger", "data"):
            if _instances().get((kind, name)) is type(value):
                parts = {f.name: self.plain(getattr(value, f.name)) for f in fields(value)}
                return {kind: name, "of": parts}
        raise ValueError(f"{name} is a class of your own, which a file cannot hold")


def _write_scalar(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    return value


def _write_array(array: np.ndarray) -> dict[str, Any]:
    kind = array.dtype.newbyteorder("<").str
    if kind not in DTYPES:
        raise ValueError(f"a file cannot hold an array of {array.dtype}")
    # The order of the numbers decides how sums are rounded.
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    data = np.asarray(array, dtype=kind).tobytes(order=order)  # type: ignore[arg-type]
    text = base64.b64encode(data).decode("ascii")
    return {"array": kind, "shape": list(array.shape), "order": order, "data": text}


class Reader:
    """Makes the objects of a file when they are first needed."""

    def __init__(self, objects: list[Any], version: int) -> None:
        self._objects = objects
        self._former = VERSION_1 if version == 1 else {}
        self._made: dict[int, Any] = {}
        self._begun: set[int] = set()

    def value(self, plain: Any) -> Any:
        """Return the value of a piece of JSON."""
        if not isinstance(plain, dict):
            if isinstance(plain, list):
                raise ValueError("a list must be an object")
            return plain
        if "at" in plain:
            return self._at(plain["at"])
        if "float" in plain:
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[plain["float"]]
        if "pairs" in plain:
            return {self.value(key): self.value(part) for key, part in plain["pairs"]}
        parts = [self.value(part) for part in plain["of"]]
        return tuple(parts) if plain["tuple"] == "" else TUPLES[plain["tuple"]](*parts)

    def _at(self, place: Any) -> Any:
        if type(place) is not int or not 0 <= place < len(self._objects):
            raise ValueError(f"there is no object {clipped(repr(place), 40)}")
        if place not in self._made:
            if place in self._begun:
                raise ValueError(f"object {place} contains itself")
            self._begun.add(place)
            self._made[place] = self._object(self._objects[place])
        return self._made[place]

    def _object(self, plain: dict[str, Any]) -> Any:
        if "array" in plain:
            return _read_array(plain)
        if "list" in plain:
            return [self.value(part) for part in plain["list"]]
        if "generator" in plain:
            return _read_generator(self.value(plain["generator"]))
        if "online" in plain:
            return OnlineEM.of_parts(*self.value(plain["online"]))
        if "family" in plain and self._former:
            return DATA[plain["family"]]
        return self._instance(plain)

    def _instance(self, plain: dict[str, Any]) -> Any:
        kind = next(kind for kind in ("hedger", "data", "open") if kind in plain)
        name = plain[kind]
        parts = {field: self.value(part) for field, part in plain["of"].items()}
        if name in self._former:
            attributes, make = self._former[name]
            odd = sorted(parts.keys() ^ set(attributes.split()))
            if odd:
                raise ValueError(f"{clipped(repr(odd[0]), 40)} of {name} is missing or unknown")
            return make(SimpleNamespace(**parts))
        return _instances()[kind, name](**parts)


def _read_array(plain: dict[str, Any]) -> np.ndarray:
    if plain["array"] not in DTYPES or plain["order"] not in {"C", "F"}:
        raise ValueError("an array is of an unknown kind")
    try:
        data = base64.b64decode(plain["data"], validate=True)
    except binascii.Error:
        raise ValueError("an array is not in base 64") from None
    flat = np.frombuffer(data, plain["array"])
    return flat.reshape(plain["shape"], order=plain["order"]).astype(
        flat.dtype.newbyteorder("="), order="K", copy=True
    )


def _read_generator(state: Any) -> np.random.Generator:
    name = state["bit_generator"]
    if name not in GENERATORS:
        raise ValueError(f"{clipped(repr(name), 40)} is not a generator of random numbers")
    bits = getattr(np.random, name)()
    bits.state = state
    return np.random.Generator(bits)


def _regimes_1(old: Any) -> tuple[RegimesSettings, RegimesState]:
    hedger, game = old._weighing
    settings = RegimesSettings(
        old.emission,
        old.numbers,
        budget=old._budget,
        hedger=hedger,
        worth=old._worth,
        symbols=old._symbols,
    )
    learned = {
        "emission": None if old._slate is None else old.emission,
        "rounds": old.rounds,
        "observed": old._observed,
        "seen": tuple(old._seen),
        "previous": old._previous,
        "game": game,
        "labels": old._naming,
        "now": old._now,
        "switch": old._switch,
        "history": tuple(old.history),
        "rng": old._rng,
    }
    if old._lineup is not None:
        filters = FilterBank(old._slate.candidates, settings.most).init()
        # The last filter has other bits than the product of probabilities and transitions.
        learned |= {"pool": old._slate, "filters": filters._replace(beliefs=old._lineup)}
    return settings, RegimesRule(settings).init()._replace(**learned)


def _online_1(old: Any) -> OnlineEM:
    settings = np.array([*old._settings, *old._guards])
    block = np.concatenate([part.ravel() for part in old._arrays[:-1]])
    return OnlineEM.of_parts(
        old._template, old.forgetting, old._centre, old._width, settings, block
    )


VERSION_1: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Candidate": (
        "recipe fitted filtered since due fresh online",
        lambda old: Candidate(**vars(old)),
    ),
    "Identity": (
        "_most _known _age numbers",
        lambda old: Identity(old._age, old.numbers, old._known),
    ),
    "Lineup": (
        "candidates _width _fixed _online _families _moves _beliefs",
        lambda old: old._beliefs,
    ),
    "Naming": (
        "_most _worth _identity _ahead _rounds _groups _leave _alike maps model _recipe",
        lambda old: RegimeLabels(old._identity, old._ahead, old._rounds, old._groups, old.maps,
                                 old._leave, old._alike, old.model, old._recipe),
    ),
    "OnlineEM": (
        "forgetting _relative _family _centre _width _place _scale _log_width _transition _rows "
        "_filter _guards _arrays _settings _template",
        _online_1,
    ),
    "Regimes": (
        "emission numbers _budget _weighing _worth _symbols _rng rounds _observed history _most "
        "_naming _now _switch _slate _lineup _seen _previous",
        _regimes_1,
    ),
    "Slate": (
        "candidates standing _recipes _always _numbers _freely _budget _rng _symbols _closed",
        lambda old: CandidatePool(tuple(old.candidates), old.standing, old._closed),
    ),
    "Weighing": ("_hedger _state", lambda old: (old._hedger, old._state)),
    "_Family": ("_rows _emission _states _places _name", lambda old: old),
}  # fmt: skip
"""The classes of version 1: their attributes at the time, and the objects that they become."""
