"""What must not reach a kernel, which looks at no index, and what must come back from one."""

from normalhedge._jit import VECTOR, fill, kernel

# Templates


@kernel(VECTOR)
def twice(x: float) -> float:
    return 2.0 * x


@kernel(VECTOR)
def thrice(x: float) -> float:
    return 3.0 * x


work = twice  # open in the template


def template(x: float) -> float:
    return work(x)


def test_a_template_filled_twice_in_one_file() -> None:
    doubled, tripled = (fill(template, home, work=home) for home in (twice, thrice))
    assert doubled(1.0) == 2.0
    assert tripled(1.0) == 3.0  # and not what is in the cache of the other
