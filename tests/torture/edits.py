"""Structured edits of JSON: values dropped, doubled, retyped, replaced, nested."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 53, 1 << 63, 10**30, -(10**400), 0.5, -0.0,
    1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), "", "a", "0", "NaN", "\x00",
    "\ud800", "é" * 50, [], [[]], [[[]]], [None], [0], [[0.5, 0.5]], {}, {"": 0}, {"a": {}},
    [[], []],
)  # fmt: skip
"""What a value is replaced by."""

LITERALS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000, "0x10", "01", "'a'", "tru", "",
    "[" * 100_000, "[" * 1000 + "]" * 1000, '{"a":' * 100_000, '"\\ud800"', '"unended', "1.",
    "\x00",
)  # fmt: skip
"""What is put into the text where a value was."""

MARK = "here a literal stands"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value."""
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            yield from places(part, (*path, k))


def by_depth(value: Any) -> list[list[tuple[Any, ...]]]:
    """Return the ways to all values but the whole, those of one length together."""
    ways = list(places(value))
    return [
        [way for way in ways if len(way) == depth] for depth in sorted({len(w) for w in ways} - {0})
    ]


def edited(
    text: str, ways: list[list[tuple[Any, ...]]], rng: np.random.Generator
) -> tuple[str, str]:
    """Return a text with one or two values changed, and what was done."""
    whole = json.loads(text)
    done = []
    literal = None
    for _ in range(int(rng.choice([1, 1, 1, 2]))):
        # Most values are cells of arrays: choose the depth first, so that settings get their share.
        found = ways[int(rng.integers(len(ways)))]
        way = found[int(rng.integers(len(found)))]
        try:
            holder = whole
            for step in way[:-1]:
                holder = holder[step]
            what, literal = _edit(holder, way[-1], rng, literal)
        except (KeyError, IndexError, TypeError):
            continue
        done.append(f"{what} at {'.'.join(map(str, way))}")
    text = json.dumps(whole)
    if literal is not None:
        text = text.replace(json.dumps(MARK), literal, 1)
    return text, "; ".join(done)


def _edit(
    holder: Any, key: Any, rng: np.random.Generator, literal: str | None
) -> tuple[str, str | None]:
    """Change one value of a list or an object; return what was done, and the literal to put in."""
    old = holder[key]
    kind = int(rng.integers(7))
    if kind == 0:
        del holder[key]
        what = "dropped"
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, old)
        what = "doubled"
    elif kind == 2:
        holder[key] = str(old) if not isinstance(old, str) else [old]
        what = "retyped"
    elif kind == 3 and isinstance(old, int | float) and abs(old) < 1 << 60:
        holder[key] = old + float(rng.choice([1, -1, 0.5, 1e-9, -1e6]))
        what = f"{old!r} made {holder[key]!r}"
    elif kind == 4 and isinstance(old, list) and len(old) > 1:
        old.reverse()
        what = "reversed"
    elif kind == 5 and literal is None:
        literal = LITERALS[int(rng.integers(len(LITERALS)))]
        holder[key] = MARK
        what = f"literal {literal[:12]!r} put"
    else:
        if kind == 1:
            key = f"{key}2"
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
        what = f"{repr(holder[key])[:40]} put"
    return what, literal
