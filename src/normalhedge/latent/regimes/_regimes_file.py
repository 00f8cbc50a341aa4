"""The file in which a stream keeps its regimes."""

from pathlib import Path

from normalhedge.latent.regimes._encoding import KINDS, Encoding
from normalhedge.latent.regimes._inferred import Live
from normalhedge.latent.regimes._regimes import Regimes
from normalhedge.latent.regimes._saved import from_journal, read, write
from normalhedge.live import state_file
from normalhedge.live.journal import Operation

# a journal of this many bytes is folded into the state: a longer one takes seconds to replay
FOLDED = 1 << 16


class RegimesFile(state_file.StateFile[Live]):
    """Regimes on disk, with the encoding of their observations and a journal."""

    def read(self) -> tuple[Live, int, str]:
        rule, state, extra = read(self.path)
        regimes = Regimes.at(rule, state)
        if not extra:  # as `Regimes.save` wrote it
            return Live(regimes, _plain_encoding(regimes)), 0, ""
        try:
            sequence, journal = extra["sequence"], extra["journal"]
            if type(sequence) is not int or sequence < 0 or not isinstance(journal, str):
                raise ValueError("sequence and journal must be a number and a word")
            return Live(regimes, Encoding.from_plain(extra["code"])), sequence, journal
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from None

    def write(self, thing: Live, sequence: int, journal: str, target: Path) -> int:
        regimes, encoding = thing
        extra = {"code": encoding.to_plain(), "sequence": sequence, "journal": journal}
        return write(regimes.settings, regimes._state, target, extra)

    def redo(self, thing: Live, operation: Operation) -> None:
        thing.regimes.observe(from_journal(operation["observe"]))

    def limit(self, size: int) -> int:
        return max(FOLDED, size // 4)


def _plain_encoding(regimes: Regimes) -> Encoding:
    """Return the encoding of regimes that learned plain numbers."""
    columns, symbols = len(regimes._state.previous), regimes.settings.symbols
    if symbols is not None:
        return Encoding("symbols", tuple(str(k) for k in range(symbols)))
    if columns > 1:
        return Encoding("numbers", columns=tuple(f"column {k}" for k in range(columns)))
    if regimes.emission == "negative_binomial":
        return Encoding("counts")
    kind = next((kind for kind, family in KINDS.items() if family == regimes.emission), "numbers")
    return Encoding(kind)
