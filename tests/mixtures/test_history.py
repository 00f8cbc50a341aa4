"""The kept rounds of a mixture, whose columns follow the experts that leave."""

import numpy as np

from normalhedge import Mixture
from normalhedge.mixtures.state import widen


def test_kept_rounds_have_the_columns_of_the_present_experts() -> None:
    rng = np.random.default_rng(0)
    mixture, given = Mixture(history=30), {}
    names = [f"e{k}" for k in range(5)]
    for t in range(120):
        forecasts = {name: float(rng.normal()) for name in names if rng.uniform() < 0.8}
        forecasts |= {"base": 1.0}
        ticket = mixture.predict(forecasts).ticket
        given[ticket] = forecasts
        mixture.update(ticket, float(t))
        if rng.uniform() < 0.3:
            leaver = names[int(rng.integers(len(names)))]
            if leaver in mixture.names:
                mixture.leave(leaver)
                for told in given.values():
                    told.pop(leaver, None)
            names[names.index(leaver)] = f"n{t}" if rng.uniform() < 0.7 else leaver
        for one in mixture.history:
            table, _ = widen(mixture.live, one.round.forecasts, None)
            found = dict(zip(mixture.names, table[0, 0], strict=True))
            assert {k: v for k, v in found.items() if not np.isnan(v)} == given[one.ticket]
            assert one.outcomes[0] == one.ticket
        assert len(mixture.history) <= 30
    assert mixture.summary().comparison is not None
