"""Recorded gains: an array, or a CSV or Parquet file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from normalhedge.boundary import inputs, number_tables
from normalhedge.research.games.natures._protocol import BLOCK, InBlocks


@dataclass(frozen=True, eq=False)
class Replay(InBlocks):
    """Replay recorded gains.

    Parameters
    ----------
    source
        An array with a row for each round and a column for each expert; or the path of a CSV or
        Parquet file of numbers in [-1, 1], which is read in blocks. A CSV file may have a header.
    """

    source: Any

    def __post_init__(self) -> None:
        if isinstance(self.source, str | Path):
            object.__setattr__(self, "source", number_tables.NumberFile(Path(self.source)))
        else:
            table = inputs.numbers_array("source", self.source)
            if table.ndim != 2 or 0 in table.shape:
                raise ValueError(
                    "source must have a row for each round and a column for each expert, got shape "
                    f"{table.shape}"
                )
            object.__setattr__(self, "source", table)

    def __repr__(self) -> str:
        """Return the shape or the path of the source, not its numbers."""
        shown = self.source.shape if isinstance(self.source, np.ndarray) else self.source.path
        return f"Replay({shown})"

    @property
    def experts(self) -> int:  # type: ignore[override]
        """The number of experts: the columns of the source."""
        if isinstance(self.source, np.ndarray):
            return int(self.source.shape[1])
        return len(self.source.columns)

    @property
    def names(self) -> list[str]:
        """The names of the experts: the names, or else the numbers, of the columns."""
        if isinstance(self.source, np.ndarray):
            return [str(k) for k in range(self.experts)]
        return list(self.source.columns)

    @property
    def rounds(self) -> int:
        """The number of recorded rounds."""
        return len(self.source)

    def gains(self, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:  # noqa: ARG002
        """Yield the gains in blocks; there are at most the recorded rounds."""
        if rounds > self.rounds:
            raise ValueError(f"rounds must be at most {self.rounds}, as recorded, got {rounds}")
        start = 0
        for block in self._blocks():
            part = block[: rounds - start]
            wrong = ~(np.abs(part.astype(np.float64)) <= 1.0)
            if wrong.any():
                row, column = (int(k[0]) for k in np.nonzero(wrong))
                raise ValueError(
                    f"gains must be finite numbers in [-1, 1]; round {start + row + 1} of expert "
                    f"{self.names[column]} is {part[row, column]}"
                )
            if len(part):
                yield part
            start += len(part)
            if start >= rounds:
                return

    def _blocks(self) -> Iterator[np.ndarray]:
        length = max(BLOCK // self.experts, 1)
        if isinstance(self.source, np.ndarray):
            for start in range(0, len(self.source), length):
                yield self.source[start : start + length]
        else:
            yield from self.source.blocks(length)
