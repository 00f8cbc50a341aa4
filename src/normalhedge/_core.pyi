from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from normalhedge.boundary.inputs import Floats

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

class Routing:
    names: tuple[str, ...]
    every: tuple[str, ...]
    numbers: dict[str, int]
    contexts: dict[str, int]
    next: int
    rounds: int
    expired: int
    full: bool
    late: bool
    changed: bool
    mean: float
    bytes: float
    spending: tuple[float, float, float, float]
    costs: list[float]

    def __init__(
        self,
        rules: Sequence[tuple[Any, ...]],
        prior: Sequence[float],
        low: float,
        high: float,
        max_pending: int,
        history: int,
        most_contexts: int,
        seed: int,
        budget: float,
        choice: type,
        /,
    ) -> None: ...
    def choose(
        self, context: int, awake: Sequence[int] | None, seen: Sequence[int] | None, /
    ) -> Any: ...
    def distribution(self, context: int, awake: Sequence[int] | None, /) -> Floats: ...
    def reward(self, ticket: Any, gain: Any, /) -> bool: ...
    def settle(
        self,
        ticket: int,
        numbers: Sequence[int],
        gains: Sequence[float],
        full: bool,
        cost: float,
        /,
    ) -> None: ...
    def correct(
        self, ticket: int, numbers: Sequence[int], gains: Sequence[float], full: bool, /
    ) -> None: ...
    def round(self, ticket: int, /) -> tuple[Any, ...] | None: ...
    def settled(self, ticket: int, /) -> tuple[Any, ...] | None: ...
    def history(self) -> list[tuple[Any, ...]]: ...
    def pending(self) -> list[int]: ...
    def join(self, name: str, cost: float, others: Sequence[int], by: Sequence[int], /) -> None: ...
    def leave(self, place: int, /) -> None: ...
    def open(self, context: str, /) -> int: ...
    def dump(self) -> Floats: ...
    def restore(
        self, numbers: Floats, every: tuple[str, ...], contexts: dict[str, int], /
    ) -> None: ...
    def weights(self, context: int, /) -> list[float]: ...
    def prices(self, context: int, /) -> list[float]: ...
    def share(self, context: int, /) -> float: ...

class Candidates:
    def __init__(
        self,
        columns: int,
        predicted: int,
        states: int,
        count: int,
        fixed: tuple[tuple[Any, ...], ...],
        online: tuple[tuple[Any, ...], ...],
        others: tuple[tuple[Any, ...], ...],
        /,
    ) -> None: ...
    def mix(
        self, beliefs: Floats, block: Floats, others: tuple[Floats, ...], weights: Floats, /
    ) -> tuple[tuple[int, Floats, Floats], ...]: ...
    def predict(self, beliefs: Floats, block: Floats, others: tuple[Floats, ...], /) -> Floats: ...
    def run(
        self,
        beliefs: Floats,
        block: Floats,
        others: tuple[Floats, ...],
        previous: Floats,
        observations: Floats,
        /,
    ) -> tuple[
        tuple[Floats, Floats, Floats, tuple[Floats, ...]], tuple[Floats, Floats, Floats, Floats]
    ]: ...
    def smooth(self, block: Floats, observations: Floats, /) -> Floats: ...
    def states(self, block: Floats, /) -> tuple[tuple[int, Floats, Floats], ...]: ...

class Turn:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

STATE_FIELDS: tuple[str, ...]
CORRECTIONS: int
QUANTILE_CORRECTIONS: int
CONTEXTS: int
CORRECTED_BY_CONTEXTS: int
COMMON_FEATURES: int
STEADY_CORRECTION: int
STEADY_EQUATIONS: int
MOST_STACKED: int
STEADY_RIDGE: int
TRUST_IN_BASE: float

class Live:
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
    intervals: Floats
    interval_rounds: np.ndarray
    equation_rows: Floats
    equation_squares: Floats
    cell_rows: Floats
    cell_squares: Floats
    recalibrations: Floats
    rounds: int
    next_ticket: int
    expired: int
    left: int
    joined_late: bool
    seeded: bool
    warned: bool
    names: list[str]
    items: list[str]
    cells: list[str]
    classes: list[str]
    retired: frozenset[str]
    states: list[Any] | None
    ids: dict[str, int]
    history: list[tuple[tuple[Any, ...], Floats, int] | None]
    checkpoints: list[tuple[Live, int]]
    version: int
    waiting: int
    bytes_of_rounds: int
    attached: Any
    turn: Turn
    value_count: int
    parts: dict[str, tuple[str, int, int]]

    def __init__(self, settings: tuple[Any, ...], /) -> None: ...
    def predict(self, forecasts: object, context: object, /) -> Any: ...
    def update(self, ticket: object, outcome: object, /) -> bool: ...
    def predict_rows(
        self, round_: tuple[Any, ...], /
    ) -> tuple[int, Floats, Floats, Floats | None]: ...
    def settle(self, version: int, ticket: int, outcomes: Floats, /) -> None: ...
    def note(self, version: int, ticket: int, outcomes: Floats, /) -> None: ...
    def correct(self, version: int, ticket: int, outcomes: Floats, /) -> bool: ...
    def copy(self, history: bool, /) -> Live: ...
    def take_over(self, version: int, other: Live, /) -> None: ...
    def join(
        self,
        version: int,
        names: Sequence[str],
        items: Sequence[str],
        cells: Sequence[str],
        classes: Sequence[str],
        /,
    ) -> None: ...
    def leave(self, version: int, places: np.ndarray, /) -> None: ...
    def rename(self, version: int, place: int, name: str, /) -> None: ...
    def inherit(self, version: int, target: int, source: int, /) -> None: ...
    def retire(self, version: int, place: int, /) -> None: ...
    def start_game(self, game: int, others: np.ndarray, /) -> None: ...
    def play(self, schedule: tuple[Any, ...], /) -> None: ...
    def add_sums(self, expert_sums: Floats, total_sums: Floats, rounds: int, /) -> None: ...
    def fill_plain(self, table: Floats, confidence: Floats | None, /) -> None: ...
    def tickets(self) -> list[int]: ...
    def pending_round(self, ticket: int, /) -> tuple[Any, ...] | None: ...
    def replace_pending(
        self,
        version: int,
        tickets: Sequence[int],
        records: Sequence[tuple[Any, ...]],
        next_ticket: int,
        expired: int,
        /,
    ) -> None: ...
    def bytes_with(self, experts: int, items: int, cells: int, classes: int, /) -> float: ...
    def find_id(self, text: str, /) -> int: ...
    def find(self, name: object, /) -> int: ...
    def find_item(self, name: str, /) -> int: ...
    def find_cell(self, name: str, /) -> int: ...
    def assign(self, version: int, fields: dict[str, np.ndarray], /) -> None: ...
    def weigh(self) -> None: ...
    def forget_checkpoints(self) -> None: ...
    def restore(
        self,
        states: list[Any] | None,
        retired: Sequence[str],
        entries: Sequence[tuple[tuple[Any, ...], Floats, int] | None],
        checkpoints: Sequence[tuple[Live, int]],
        /,
    ) -> None: ...
    def free_turn(self) -> None: ...

def scratch_overflows() -> int: ...
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
def em_fit_lanes(
    series: Floats,
    shapes: np.ndarray,
    units: Floats,
    initial: Floats,
    transition: Floats,
    parameters: Floats,
    divisions: np.ndarray,
    guards: Floats,
    tolerance: float,
    calls: int,
    traces: Floats,
    totals: Floats,
    /,
) -> None: ...
def log_gains(logs: Floats, nats: float, gains: Floats, /) -> None: ...
def mixed_quantiles(
    normals: Floats,
    students: Floats,
    levels: Floats,
    result: Floats,
    /,
) -> None: ...
def places_below(
    observations: Floats,
    weights: Floats,
    means: Floats,
    variances: Floats,
    steps: bool,
    places: Floats,
    /,
) -> None: ...
def regime_shares(
    weights: Floats,
    filtered: Floats,
    maps: Floats,
    leave: Floats,
    hidden: Floats,
    alike: Floats,
    regimes: Floats,
    switching: Floats,
    /,
) -> None: ...
def remember_logs(
    logs: Floats,
    weights: Floats,
    states: np.ndarray,
    known: np.ndarray,
    keep: float,
    counted: float,
    ahead: Floats,
    standing: Floats,
    kinds: Floats,
    evidence: Floats,
    mixed: Floats,
    /,
) -> float: ...
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
def novelty_run(
    places: Floats, patience: float, numbers: Floats, novelty: Floats, alarms: Floats, /
) -> None: ...
def novelty_size() -> int: ...
def one_less_exp(x: Floats, result: Floats, /) -> None: ...
def moving_expect(
    logs: Floats, initial: Floats, transitions: Floats, length: int, smoothed: Floats, /
) -> float: ...
def moving_fit(
    family: str,
    observations: Floats,
    length: int,
    keep: Floats,
    initial: Floats,
    transitions: Floats,
    parameters: Floats,
    start: Floats | None,
    guards: Floats,
    iterations: int,
    tolerance: float,
    logs: Floats,
    /,
) -> tuple[float, int]: ...
def moving_path(
    logs: Floats, initial: Floats, transitions: Floats, length: int, path: np.ndarray, /
) -> float: ...
def online_begin(
    shape: np.ndarray, settings: Floats, columns: int, shares: Floats, block: Floats, /
) -> None: ...
def online_family(name: str, /) -> int: ...
def online_layout(shape: np.ndarray, columns: int, places: np.ndarray, /) -> None: ...
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
def series_ahead(
    kind: str,
    family: str,
    width: int,
    grid: Floats,
    memory: float,
    numbers: Floats,
    rounds: int,
    shares: Floats,
    rows: Floats,
    /,
) -> int: ...
def series_breaks(
    family: str, width: int, grid: Floats, numbers: Floats, runs: Floats, /
) -> int: ...
def series_learn(
    kind: str,
    family: str,
    width: int,
    grid: Floats,
    memory: float,
    seen: Floats,
    numbers: Floats,
    /,
) -> None: ...
def series_run(
    kind: str,
    family: str,
    width: int,
    grid: Floats,
    memory: float,
    seen: Floats,
    numbers: Floats,
    logs: Floats,
    means: Floats,
    variances: Floats,
    /,
) -> None: ...
def series_size(kind: str, family: str, width: int, grid: int, /) -> int: ...
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
def write_slope_table(
    forecasts: Floats,
    outcomes: Floats,
    items: np.ndarray,
    levels: Floats,
    loss: str,
    slopes: Floats,
    /,
) -> None: ...
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
