"""A part of the paper: measurements, claims that are judged by them, and sections of the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from normalhedge.boundary.progress import Progress
from normalhedge.reports import Section
from normalhedge.research._cells import Arrays
from normalhedge.research.paper._claim import PaperClaim


@dataclass(frozen=True)
class PaperSettings:
    """Everything that the numbers depend on, beside the code."""

    # runs, rounds: The runs of each panel of the figures, and their rounds. The paper does not
    # print the number of rounds; these are ten shifts of the good set.
    runs: int = 50
    rounds: int = 10_000
    seed: int = 0  # the seed of all measurements
    quick: bool = False  # whether the other measurements are small, too


QUICK = PaperSettings(runs=2, quick=True)

ALPHA, PRINTED_C, GAMMAS = 0.001, (1.0, 2.0, 4.0), (0.2, 0.4, 0.6, 0.8)
"""The simulations of Section 4 of the paper: the discount rate, the parameters c of NormalHedge in
the figures, and the edges of the good experts over chance."""

Measured = Mapping[str, Arrays]
"""The arrays of each finished measurement, by its id."""

UNITS = 3e8
"""The rough cost of a usual measurement, in rounds x experts x hedgers of the figures."""


@dataclass(frozen=True)
class Measurement:
    """A measurement whose arrays are saved in a cell."""

    id: str  # the name of the cell
    # A pure function of the settings. It also receives the number of jobs (none for all cores), and
    # a progress to report to.
    measure: Callable[[PaperSettings, int | None, Progress], Arrays]
    # the cost, as a function of the settings
    units: Callable[[PaperSettings], float] = lambda _: UNITS
    # Whether the measurement uses several cores itself. All others run beside each other.
    parallel: bool = False


def on_one_core(name: str, measure: Callable[[PaperSettings], Arrays]) -> Measurement:
    """Return a measurement that needs one core and reports when it is finished."""

    def run(settings: PaperSettings, _: int | None, progress: Progress) -> Arrays:
        arrays = measure(settings)
        progress.done(1.0, name)
        return arrays

    return Measurement(name, run)


@dataclass(frozen=True)
class Part:
    """A part of the paper.

    The functions get all finished measurements. They judge and show what these allow: with
    ``--only``, some measurements are missing.
    """

    id: str  # the name of the part
    # The names of its Python modules. Their code is in the fingerprint of its own measurements
    # only, so that no other part is computed again after a change.
    modules: tuple[str, ...]
    # the names that ``--only`` accepts, and the measurements that each of them needs
    choices: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    # A function from the finished measurements to the claims
    judge: Callable[[Measured], list[PaperClaim]] = lambda _: []
    # A function from the finished measurements to the sections of the page
    sections: Callable[[Measured], list[Section]] = lambda _: []
    # A function that writes further files into a folder, and returns their paths
    files: Callable[[Measured, Path], list[Path]] = lambda _measured, _folder: []
    # the upper layers (`normalhedge.research._fingerprint.UPPER`) that the numbers depend on
    layers: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of its modules, from the folder of the package on."""
        return tuple(name.partition(".")[2].replace(".", "/") + ".py" for name in self.modules)


def part_of_one(
    name: str,
    module: str,
    measure: Callable[[PaperSettings], Arrays],
    *,
    claims: Sequence[Callable[[Arrays], PaperClaim | None]] = (),
    sections: Sequence[Callable[[Arrays], Section]] = (),
    layers: tuple[str, ...] = (),
) -> Part:
    """Return a part with one measurement of the same name, its claims and its sections."""

    def judge(measured: Measured) -> list[PaperClaim]:
        judged = [claim(measured[name]) for claim in claims if name in measured]
        return [claim for claim in judged if claim is not None]

    return Part(
        name,
        (module,),
        {name: (on_one_core(name, measure),)},
        judge,
        lambda measured: [section(measured[name]) for section in sections if name in measured],
        layers=layers,
    )
