"""Measurements that several tests use."""

import pytest

from normalhedge.research._cells import Arrays
from normalhedge.research.paper._hidden import play_case
from normalhedge.research.paper._hidden_cases import CASES
from normalhedge.research.paper._part import PaperSettings

ONE = PaperSettings(seed=1, quick=True)


@pytest.fixture(scope="session")
def found() -> dict[str, Arrays]:
    return {case.id: play_case(case, ONE) for case in CASES}
