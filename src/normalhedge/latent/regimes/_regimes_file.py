"""The file in which a stream keeps its regimes."""

from pathlib import Path

from normalhedge.latent.regimes._code import KINDS, Code
from normalhedge.latent.regimes._inferred import Live
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._saved import observe, read, write
from normalhedge.live import state_file
from normalhedge.live.journal import Operation

FOLDED = 1 << 16
"""A journal of this many bytes is folded into the state: a longer one takes seconds to replay."""


class RegimesFile(state_file.StateFile[Live]):
    """Regimes on disk, with the code of their observations and a journal."""

    def read(self) -> tuple[Live, int, str]:
        """Return the regimes, how many journal entries they include, and the journal's name."""
        regimes, extra = read(self.path, Regimes)
        if not extra:  # as `Regimes.save` wrote it
            return Live(regimes, _code(regimes)), 0, ""
        try:
            code, sequence, journal = extra["code"], extra["sequence"], extra["journal"]
            if type(sequence) is not int or sequence < 0 or not isinstance(journal, str):
                raise ValueError("sequence and journal must be a number and a word")
            return Live(regimes, Code.from_plain(code)), sequence, journal
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from None

    def write(self, thing: Live, sequence: int, journal: str, target: Path) -> int:
        """Write regimes and code, whole or not at all; return the size in bytes."""
        place = {"sequence": sequence, "journal": journal}
        return write(thing.regimes, target, {"code": thing.code.to_plain(), **place})

    def redo(self, thing: Live, operation: Operation) -> None:
        """Learn an observation of the journal again."""
        observe(thing.regimes, operation["observe"])

    def limit(self, size: int) -> int:
        """Return the largest size of a journal beside a state of this size, in bytes."""
        return max(FOLDED, size // 4)


def _code(regimes: Regimes) -> Code:
    """Return the code of regimes that learned plain numbers."""
    columns, symbols = len(regimes._state.previous), regimes.settings.symbols
    if symbols is not None:
        return Code("symbols", tuple(str(k) for k in range(symbols)))
    if columns > 1:
        return Code("numbers", columns=tuple(f"column {k}" for k in range(columns)))
    if regimes.emission == "negative_binomial":
        return Code("counts")
    kind = next((kind for kind, family in KINDS.items() if family == regimes.emission), "numbers")
    return Code(kind)
