"""The bar of progress in the terminal."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from normalhedge.boundary.terminal import shown


class ProgressBar:
    """A `normalhedge.boundary.progress.Progress` that draws a bar with the time left, on stderr.

    The bar vanishes when the work is done. If stderr is no terminal, only sentences are printed.
    """

    def __init__(self, start: str = "starting", width: int = 28) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn(f"{{task.description:<{width}}}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("done,"),
            TimeElapsedColumn(),
            TextColumn("so far,"),
            TimeRemainingColumn(),
            TextColumn("to go"),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # it would print an empty line at the end
        )
        self._task = self._bar.add_task(start, total=None)

    def total(self, units: float) -> None:
        """Announce how many units of work there are."""
        self._bar.update(self._task, total=units)

    def done(self, units: float, what: str) -> None:
        """Report finished work."""
        self._bar.update(self._task, advance=units, description=shown(what))

    def begin(self, what: str) -> None:
        """Name the work that begins; where no bar is drawn, in a line of its own."""
        self.done(0, what)
        if not self._bar.console.is_terminal:
            self.say(f"{what} ...")

    def reach(self, units: float, what: str) -> None:
        """Report how much work is finished by now."""
        self._bar.update(self._task, completed=units, description=shown(what))

    def say(self, sentence: str) -> None:
        """Print a sentence above the bar."""
        self._bar.console.print(shown(sentence), highlight=False, markup=False, soft_wrap=True)

    def stop(self) -> None:
        """Remove the bar before other output is printed."""
        self._bar.stop()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
