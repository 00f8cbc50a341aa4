"""The example of speculative decoding."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def drafters() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "drafters.py"
    spec = importlib.util.spec_from_file_location("drafters", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_longest_common_beginning_is_accepted(drafters: ModuleType) -> None:
    assert [drafters.accepted("abc", text) for text in ("abc", "abd", "xbc")] == [3, 2, 0]


def test_a_model_writes_what_it_has_read(drafters: ModuleType) -> None:
    model = drafters.NGrams(3, "the cat sat on the mat. " * 20)
    assert model.draft("the c") == "at sat s"
    assert drafters.accepted(model.draft("sat on"), " the cat") == 8


def test_each_way_follows_the_text(drafters: ModuleType) -> None:
    """Either drafter alone has 3.5 of 8."""
    lengths = [{"a": 6 if t // 200 % 2 else 1, "b": 1 if t // 200 % 2 else 6} for t in range(2000)]
    assert drafters.play(lengths, "auto") > 4.5
    assert drafters.play(lengths, "auto", "all") > 4.5
    assert drafters.play(lengths, "normal-hedge:memory=100", "all") > 4.5
