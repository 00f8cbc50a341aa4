from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from normalhedge._inputs import Floats

_State = TypeVar("_State", bound=tuple[Any, ...])

class Engine:
    rows: int
    totals: int

    def __init__(
        self, name: str, settings: Sequence[float], halving: Sequence[float], state_type: type, /
    ) -> None: ...
    def step(self, state: Any, gains: Any, confidence: Any, in_place: bool, /) -> Any | None: ...
    def play(self, state: Any, confidence: Any, /) -> Floats | None: ...
    def weigh(self, weights: Floats, ledger: Floats, totals: Floats, /) -> float: ...
    def halve(self, weights: Floats, ledger: Floats, totals: Floats, /) -> None: ...
    def run(
        self,
        weights: Floats,
        ledger: Floats,
        totals: Floats,
        gains: np.ndarray,
        confidence: Floats | None,
        records: Floats,
        distributions: Floats | None,
        /,
    ) -> int: ...

class Turn:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

class Games:
    weights: Floats
    ledgers: Floats
    totals: Floats
    marks: np.ndarray
    pool_ranges: Floats
    ranges: Floats
    expert_sums: Floats
    total_sums: Floats
    loss_regrets: Floats
    delays: Floats
    states: list[Any] | None

    def __init__(
        self,
        hedger: Any,
        loss: str | None,
        own_loss: Callable[..., Any] | None,
        way: str,
        gradient: bool,
        width: float,
        even: float,
        levels: Sequence[float],
        include: Sequence[str],
        shared: bool,
        patience: tuple[float, int, Sequence[tuple[int, float]]],
        /,
    ) -> None: ...
    version: int
    shape: tuple[int, int, int, int]

    def weigh_arrays(self, weights: Floats, ledgers: Floats, totals: Floats, /) -> None: ...
    def predict(self, *round_: Any) -> None: ...
    def predict_numbers(
        self, forecasts: Any, items: np.ndarray, kind: type, target: dict[str, Any], /
    ) -> tuple[float | None, int, Floats] | None: ...
    def note(self, *round_: Any) -> None: ...
    def update(self, *round_: Any) -> None: ...
    def update_number(self, ticket: Any, outcome: Any, target: dict[str, Any], /) -> bool: ...
    def play(self, *schedule: np.ndarray | int) -> None: ...
    def join(
        self,
        version: int,
        names: list[str],
        more: list[str],
        target: dict[str, Any],
        changes: dict[str, Any],
        merges: tuple[dict[str, int], ...],
        /,
    ) -> bool: ...
    def weigh(self, game: int, /) -> None: ...
    def fill_plain(self, table: Floats, confidence: Floats | None, /) -> None: ...
    def replace(
        self,
        version: int,
        arrays: tuple[Any, ...] | None,
        states: list[Any] | None,
        target: dict[str, Any],
        changes: dict[str, Any],
        merges: tuple[dict[str, int], ...],
        /,
    ) -> None: ...

def best_sequence(gains: Floats, switches: int, experts: np.ndarray, /) -> float: ...
def combine(forecasts: Floats, weights: Floats, way: str, /) -> float: ...
def em_expect(
    logs: Floats, initial: Floats, transition: Floats, smoothed: Floats, moves: Floats, /
) -> float: ...
def em_fit(
    family: str,
    observations: Floats,
    initial: Floats,
    transition: Floats,
    parameters: Floats,
    start: Floats | None,
    guards: Floats,
    tolerance: float,
    trace: Floats,
    /,
) -> tuple[float, int]: ...
def em_log_densities(
    family: str, observations: Floats, parameters: Floats, result: Floats, /
) -> None: ...
def erfcx(x: Floats, result: Floats, /) -> None: ...
def excess_of_exp(x: Floats, result: Floats, /) -> None: ...
def exp2(x: Floats, result: Floats, /) -> None: ...
def explore_groups(
    sizes: Floats,
    moves: Floats,
    alpha: float,
    c: float,
    floor: float,
    width: float,
    cells: int,
    path: np.ndarray,
    rounds: int,
    keeper: np.ndarray,
    states: Floats,
    logs: Floats,
    parents: np.ndarray,
    taken: np.ndarray,
    /,
) -> tuple[int, bool]: ...
def fill_sleepers(
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    loss: str,
    way: str,
    filled: Floats,
    /,
) -> None: ...
def filter_observe(
    state: _State, scores: Floats | None, transition: Floats, keep: float, /
) -> _State: ...
def filter_run(
    beliefs: Floats,
    scores: Floats,
    observations: Floats,
    transition: Floats,
    keep: float,
    logs: Floats,
    /,
) -> int: ...
def follow_groups(
    sizes: Floats, gains: Floats, alpha: float, c: float, leads: Floats, logs: Floats, /
) -> None: ...
def get_slicing() -> tuple[int, int, int]: ...
def hold_groups(
    sizes: Floats,
    share: float,
    climb: float,
    alpha: float,
    c: float,
    patience: int,
    longest: int,
    table: np.ndarray,
    /,
) -> tuple[int, float, float]: ...
def leads(gains: Floats, keep: float, result: Floats, /) -> None: ...
def log(x: Floats, result: Floats, /) -> None: ...
def log1p(x: Floats, result: Floats, /) -> None: ...
def log_gamma(x: Floats, result: Floats, /) -> None: ...
def one_less_exp(x: Floats, result: Floats, /) -> None: ...
def online_begin(
    shape: np.ndarray, settings: Floats, columns: int, shares: Floats, block: Floats, /
) -> None: ...
def online_family(name: str, /) -> int: ...
def online_layout(shape: np.ndarray, columns: int, places: np.ndarray, /) -> None: ...
def online_observe(
    shapes: np.ndarray,
    settings: Floats,
    observations: Floats,
    block: Floats,
    logs: Floats,
    filtered: Floats,
    /,
) -> None: ...
def online_run(
    shape: np.ndarray,
    settings: Floats,
    observations: Floats,
    block: Floats,
    beliefs: Floats,
    filtered: Floats,
    kept: Floats,
    logs: Floats,
    /,
) -> None: ...
def run_with_gaps(
    engine: Engine,
    weights: Floats,
    ledger: Floats,
    totals: Floats,
    gains: Floats,
    confidence: Floats,
    observations: Floats,
    distributions: Floats,
    /,
) -> tuple[int, float]: ...
def set_slicing(slice_: int, large: int, cores: int, /) -> None: ...
def write_loss_table(
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    loss: str,
    way: str,
    losses: Floats,
    /,
) -> int: ...
def conformal_sizes(settings: Floats, /) -> tuple[int, int, int, int]: ...
def conformal_begin(settings: Floats, games: Floats, /) -> None: ...
def conformal_predict_one(
    settings: Floats,
    games: Any,
    center: Any,
    game: Any,
    moment: Any,
    kind: type[_State],
    /,
) -> _State | None: ...
def conformal_observe_one(
    settings: Floats, games: Any, token: Any, outcome: Any, game: Any, late: Any, /
) -> bool: ...
def conformal_predict(
    settings: Floats,
    games: Floats,
    which: np.ndarray,
    bases: Floats,
    moments: np.ndarray,
    bounds: Floats,
    tokens: Floats,
    /,
) -> None: ...
def conformal_observe(
    settings: Floats,
    games: Floats,
    which: np.ndarray,
    tokens: Floats,
    outcomes: Floats,
    late: Floats,
    /,
) -> None: ...
def conformal_run(
    settings: Floats,
    games: Floats,
    which: np.ndarray,
    bases: Floats,
    moments: np.ndarray,
    outcomes: Floats,
    known_at: np.ndarray,
    order: np.ndarray,
    bounds: Floats,
    predicted: np.ndarray,
    number: np.ndarray,
    slots: np.ndarray,
    tokens: Floats,
    /,
) -> None: ...
