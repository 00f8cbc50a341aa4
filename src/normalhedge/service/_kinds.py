"""The kinds of live objects of a service."""

from typing import Any

from normalhedge.service._kind import Kind
from normalhedge.service._mixture_kind import MixtureKind
from normalhedge.service._router_kind import RouterKind

MIXTURE, ROUTER = MixtureKind(), RouterKind()

KINDS: tuple[Kind, ...] = (MIXTURE, ROUTER)


def kind_of(options: str) -> Kind:
    """Return the kind of the object that has these options in the database."""
    return ROUTER if options.startswith('{"router":') else MIXTURE


def kind_of_state(data: bytes) -> Kind:
    """Return the kind of the object that a state holds."""
    return ROUTER if b'"format": "normalhedge router"' in data[:200] else MIXTURE


def kind_of_object(thing: Any) -> Kind:
    """Return the kind of an object."""
    return ROUTER if hasattr(thing, "choose") else MIXTURE
