"""The objects of a file of regimes, as JSON.

The file is a list of objects that refer to each other by their place in the list, so that shared
objects stay shared and nothing is nested deeply. Arrays are stored as bytes in base 64. A file can
only make objects of the classes named here.
"""

import base64
import binascii
import math
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from normalhedge.boundary.terminal import clipped
from normalhedge.hedgers import HEDGERS, State
from normalhedge.latent.models import Fitted, OnlineEM
from normalhedge.latent.models.emissions import FAMILIES
from normalhedge.latent.regimes._candidates import Candidate, LearningRecipe
from normalhedge.latent.regimes._lineup import CandidateFilters
from normalhedge.latent.regimes._matching import Identity
from normalhedge.latent.regimes._naming import Naming, Parameters
from normalhedge.latent.regimes._rule import RegimesState
from normalhedge.latent.regimes._settings import RegimesSettings
from normalhedge.latent.regimes._slate import Board

DTYPES = ("<f8", "<i8", "<u4", "<u8", "|b1")
TUPLES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (Board, Candidate, CandidateFilters, Identity, LearningRecipe, Naming, Parameters,
                RegimesState, State)
}  # fmt: skip
DATA: dict[str, Any] = {cls.__name__: cls for cls in (Fitted, RegimesSettings, *FAMILIES.values())}
FAMILY_CLASSES = {family.__name__: family for family in FAMILIES.values()}
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Writer:
    """Turns objects into JSON, each of them once."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []

    def plain(self, value: Any) -> Any:
        """Return a value as JSON."""
        if value is None or isinstance(value, str | bool | np.bool_ | int | np.integer | float):
            return _scalar(value)
        name = type(value).__name__
        if type(value) is tuple or (isinstance(value, tuple) and type(value) is TUPLES.get(name)):
            parts = [self.plain(part) for part in value]
            return {"tuple": "" if type(value) is tuple else name, "of": parts}
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
            return _array(value)
        if type(value) is list:
            return {"list": [self.plain(part) for part in value]}
        if isinstance(value, np.random.Generator):
            return {"generator": self.plain(value.bit_generator.state)}
        if type(value) is OnlineEM:
            return {"online": self.plain(value.parts())}
        return self._instance(value)

    def _instance(self, value: Any) -> dict[str, Any]:
        name = type(value).__name__
        for kind, known in (("hedger", _hedgers()), ("data", DATA)):
            if known.get(name) is type(value):
                own = {f.name: self.plain(getattr(value, f.name)) for f in fields(value)}
                return {kind: name, "of": own}
        raise ValueError(f"{name} is a class of your own, which a file cannot hold")


def _scalar(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    return value


def _array(array: np.ndarray) -> dict[str, Any]:
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

    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects
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
            return _restored_array(plain)
        if "list" in plain:
            return [self.value(part) for part in plain["list"]]
        if "generator" in plain:
            return _generator(self.value(plain["generator"]))
        if "online" in plain:
            return OnlineEM.of_parts(*self.value(plain["online"]))
        own = {name: self.value(part) for name, part in plain["of"].items()}
        return self.instance(plain, own)

    def instance(self, plain: dict[str, Any], own: dict[str, Any]) -> Any:
        """Return an object of a class."""
        known = _hedgers() if "hedger" in plain else DATA
        return known[plain["hedger" if "hedger" in plain else "data"]](**own)


def _restored_array(plain: dict[str, Any]) -> np.ndarray:
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


def _generator(state: Any) -> np.random.Generator:
    name = state["bit_generator"]
    if name not in GENERATORS:
        raise ValueError(f"{clipped(repr(name), 40)} is not a generator of random numbers")
    bits = getattr(np.random, name)()
    bits.state = state
    return np.random.Generator(bits)


@cache
def _hedgers() -> dict[str, Any]:
    """Return the classes of hedgers by their names."""
    made = [hedger if isinstance(hedger, type) else hedger.__self__ for hedger in HEDGERS.values()]  # type: ignore[attr-defined]
    return {cls.__name__: cls for cls in made}
