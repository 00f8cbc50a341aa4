"""Work in several threads."""

import pytest

from normalhedge.boundary import threads


def test_a_slice_that_fails_says_so() -> None:
    def fail(item: int) -> int:
        return 1 // (item - 3)

    with pytest.raises(ZeroDivisionError):
        threads.spread(fail, [(0,), (1,), (2,), (3,)])
