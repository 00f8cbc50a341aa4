"""Objects that change, each with one state that is replaced as a whole."""

from typing import Generic, NoReturn, TypeVar

S = TypeVar("S")


class LiveObject(Generic[S]):
    """An object whose state is a value: an operation computes the next one, then puts it in place.

    Whatever interrupts an operation, the object is as it was before, or as it is after it.
    """

    _state: S

    def _change(self, before: S, after: S) -> None:
        """Replace the state, unless it is no longer the one that the operation began with."""
        # One line: no signal handler and no other thread runs between the check and the change.
        self._state = after if self._state is before else self._refuse()

    def _refuse(self) -> NoReturn:
        raise RuntimeError(f"{type(self).__name__} must not be used while it predicts or learns")
