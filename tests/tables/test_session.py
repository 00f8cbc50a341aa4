"""Sessions of tables: what they know of earlier tables changes with the mixture, or not at all."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from normalhedge import Mixture, blend
from normalhedge.mixtures.state import MixtureState
from normalhedge.tables._session import TableSession
from tests.tables.examples import values, wide
from tests.torture.snapshot import difference, snapshot

TABLE = pd.DataFrame(wide(series=2))
COLUMNS: dict[str, Any] = {"target": "y", "lag": 3}


def facts(mixture: Mixture) -> list[Any]:
    session = TableSession.of(mixture)
    deferred = {t: (*one[:4], str(one.outcomes)) for t, one in session.deferred.items()}
    return [deferred, session.last_times, session.time_kind, session.last_table]


def test_a_mixture_knows_nothing_of_tables() -> None:
    words = ("deferred", "time")
    names = [*vars(MixtureState), *vars(Mixture()), *vars(Mixture)]
    assert not [name for name in names if any(word in name for word in words)]


def test_a_table_that_fails_leaves_mixture_and_facts_as_they_were() -> None:
    mixture = blend(TABLE.head(100), **COLUMNS).mixture
    before, known, attached = snapshot(mixture), facts(mixture), mixture.live.attached

    def interrupt(share: float) -> None:
        raise KeyboardInterrupt(share)

    with pytest.raises(KeyboardInterrupt):
        blend(TABLE.tail(100), **COLUMNS, mixture=mixture, progress=interrupt)
    assert mixture.live.attached is attached
    assert facts(mixture) == known
    assert difference(snapshot(mixture), before) is None


def test_the_tables_of_a_copy_are_its_own() -> None:
    mixture = blend(TABLE.head(100).assign(y=np.nan), **COLUMNS).mixture
    before, known = snapshot(mixture), facts(mixture)
    other = Mixture.of(mixture.copy())
    filled = blend(TABLE, **COLUMNS, mixture=other)  # fills in the outcomes
    assert any("outcomes filled in" in note for note in filled.notes)
    assert facts(mixture) == known
    assert difference(snapshot(mixture), before) is None
    again = blend(TABLE, **COLUMNS, mixture=mixture)
    np.testing.assert_array_equal(values(again), values(filled))


def test_a_round_of_a_table_that_is_settled_live_is_settled_once(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    blend(TABLE.head(100), **COLUMNS, hedger="normal-hedge").mixture.save(path)
    mixture = Mixture.load(path)
    waiting = TableSession.of(mixture).deferred
    assert waiting.keys() == mixture.pending.keys() != set()
    ticket, one = next(iter(waiting.items()))
    keys = mixture.pending[ticket].keys
    assert keys is not None
    mixture.update(ticket, dict(zip(keys, one.outcomes.tolist(), strict=True)))
    assert ticket not in TableSession.of(mixture).deferred
    mixture.save(path)
    assert ticket not in {*Mixture.load(path).pending}
    found = [blend(TABLE.tail(60), **COLUMNS, mixture=m) for m in (Mixture.load(path), mixture)]
    np.testing.assert_array_equal(values(found[0]), values(found[1]))
    assert ticket not in found[0].mixture.pending


def test_a_pickle_has_the_tables_too() -> None:
    mixture = blend(TABLE.head(100), **COLUMNS).mixture
    first = blend(TABLE.tail(60), **COLUMNS, mixture=mixture)
    again = blend(TABLE.tail(60), **COLUMNS, mixture=pickle.loads(pickle.dumps(mixture)))
    np.testing.assert_array_equal(values(again), values(first))
