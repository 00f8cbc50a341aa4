"""The memory that lines may make a mixture take: checked before a line changes anything."""

from typing import Any, NamedTuple

from normalhedge.mixtures._mixture import Mixture
from normalhedge.mixtures.rules import CONTEXTS


class Budget(NamedTuple):
    """The largest memory of a mixture."""

    cells: int = 200_000  # items times experts
    # bytes of the state, its checkpoints and the history; and of the rounds that wait or are kept
    memory: int = 4_000_000_000
    owner: str = "a stream"  # the word for who has this budget

    def check(self, mixture: Mixture, forecasts: dict[str, Any], *, contexts: bool = False) -> None:
        """Refuse a round with which a mixture would take too much memory."""
        live, history = mixture.live, mixture.settings.history
        experts, items = len(live.names), len(live.items)
        rows, classes = _size(mixture, forecasts)
        cells = CONTEXTS * rows if contexts else 0
        size = 8 * rows * classes * (experts + len(forecasts) + live.value_count)
        # Quick, and never too small: as if all names were new.
        if (
            (experts + len(forecasts)) * (items + rows) <= self.cells
            and live.bytes_with(len(forecasts), rows, cells, classes) + (history + 1) * size
            <= self.memory
            and (live.waiting + history + 1) * size <= self.memory
        ):
            return
        names = _items(mixture, forecasts)
        new_experts = len(forecasts.keys() - set(live.names))
        new_items = len(names - set(live.items))
        new_classes = max(0, classes - len(live.classes)) if mixture.settings.loss.of_classes else 0
        size = 8 * len(names) * classes * (experts + new_experts + live.value_count)
        if new_experts or new_items or new_classes:
            most = (experts + new_experts) * (items + new_items)
            if most > self.cells:
                raise ValueError(
                    f"with this line, the mixture would hold {most:,} forecasts (items times "
                    f"experts), and {self.owner} holds at most {self.cells:,}: keep several "
                    "mixtures"
                )
            state = live.bytes_with(new_experts, new_items, cells, new_classes)
            if state + (history + 1) * size > self.memory:
                raise ValueError(
                    f"with this line, the mixture would take {_megabytes(state)} for "
                    f"{experts + new_experts:,} experts and {items + new_items:,} items and "
                    f"{_megabytes(history * size)} for a history of {history:,} rounds, and "
                    f"{self.owner} gives it at most {_megabytes(self.memory)}: keep several "
                    "mixtures, or a shorter history"
                )
        if live.waiting and live.bytes_of_rounds + size > self.memory:
            raise ValueError(
                f"the rounds that wait or are kept take {_megabytes(live.bytes_of_rounds)}, "
                f"{live.waiting:,} of them wait for their outcomes, and {self.owner} gives them at "
                f"most {_megabytes(self.memory)}: send outcomes first"
            )


def _size(mixture: Mixture, forecasts: dict[str, Any]) -> tuple[int, int]:
    """Return numbers of items, and of classes or levels, that forecasts do not exceed."""
    loss, rows, named, classes = mixture.settings.loss, 1, 0, 1
    inner = loss.of_classes or len(loss.levels) > 1
    for forecast in forecasts.values():
        if isinstance(forecast, list | dict) and forecast:
            parts = forecast if isinstance(forecast, list) else forecast.values()
            if inner and not isinstance(next(iter(parts)), list | dict):
                classes = max(classes, len(forecast))
                continue
            if inner:
                classes = max(classes, *map(_length, parts))
            if isinstance(forecast, dict):  # each expert may have items of its own
                named += len(forecast)
            else:
                rows = max(rows, len(forecast))
    return max(rows, named), classes


def _length(part: Any) -> int:
    return len(part) if isinstance(part, list | dict) else 1


def _items(mixture: Mixture, forecasts: dict[str, Any]) -> set[str]:
    """Return the names of the items of forecasts."""
    loss = mixture.settings.loss
    inner = loss.of_classes or len(loss.levels) > 1
    names: set[str] = set()
    for forecast in forecasts.values():
        if isinstance(forecast, list | dict) and forecast:
            parts = forecast if isinstance(forecast, list) else forecast.values()
            if not inner or isinstance(next(iter(parts)), list | dict):
                words = forecast if isinstance(forecast, dict) else map(str, range(len(forecast)))
                names.update(words)
    return names or {""}


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"
