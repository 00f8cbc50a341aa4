"""Choose the drafter of speculative decoding: ``python examples/drafters.py``.

A target model writes text. In each round a small model, the *drafter*, proposes eight characters,
and the target verifies them at once: the longest beginning that it would have written itself is
accepted. The more is accepted, the fewer calls of the target. Which drafter is best depends on the
text, which changes its kind every few hundred rounds.

Everything runs here and now, without a download: the target is an n-gram model of eight characters,
trained on the pages, the Python and the C++ of this repository; three drafters are models of four
characters, each trained on one of the kinds, and a fourth one is trained on a little of all.

The gain of a round is the accepted share of the proposal. With *all* gains each drafter is scored on
the verified characters, as "Not-a-Bandit" (2025) does with NormalHedge; with *one* gain only the
drafter that was chosen is known, which costs a fraction of the drafting.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from normalhedge import Router

ROOT = Path(__file__).parents[1]
KINDS = {"prose": "docs/**/*.md", "python": "src/normalhedge/**/*.py", "c++": "src/core/**/*.hpp"}
LENGTH = 8
ROUNDS, EVERY, RESTART = 6000, 500, 10


class NGrams:
    """Counts of the next character after up to so many characters; shorter contexts back off."""

    def __init__(self, order: int, text: str) -> None:
        self.order = order
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        for i in range(order, len(text)):
            for n in range(order + 1):
                self.counts[text[i - n : i]][text[i]] += 1
        self.best = {context: max(c, key=c.__getitem__) for context, c in self.counts.items()}

    def _known(self, context: str) -> str:
        for n in range(self.order, -1, -1):
            part = context[len(context) - n :]
            if part in self.counts:
                return part
        raise AssertionError  # the empty context is known

    def draft(self, context: str) -> str:
        """Return the most probable next characters, one after the other."""
        for _ in range(LENGTH):
            context += self.best[self._known(context)]
        return context[-LENGTH:]

    def write(self, context: str, rng: random.Random) -> str:
        """Return next characters drawn from the model."""
        for _ in range(LENGTH):
            counts = self.counts[self._known(context)]
            context += rng.choices(list(counts), list(counts.values()))[0]
        return context[-LENGTH:]


def accepted(draft: str, text: str) -> int:
    """Return how many characters of a draft are those of the text, up to the first other one."""
    for k, (ours, theirs) in enumerate(zip(draft, text, strict=True)):
        if ours != theirs:
            return k
    return len(draft)


def rounds() -> tuple[list[dict[str, int]], list[str]]:
    """Return the accepted length of each drafter in each round, and the kinds of text."""
    rng, texts = random.Random(0), dict[str, str]()
    for kind, pattern in KINDS.items():
        texts[kind] = "\n".join(p.read_text("utf-8") for p in sorted(ROOT.glob(pattern)))[:200_000]
    parts = {kind: text[: len(text) // 2] for kind, text in texts.items()}
    drafters = {kind: NGrams(6, part) for kind, part in parts.items()}
    drafters["a little of all"] = NGrams(6, "".join(part[:30_000] for part in parts.values()))
    target = NGrams(12, "".join(texts.values()))
    lengths, kinds, context = list[dict[str, int]](), list[str](), ""
    for t in range(ROUNDS):
        kind = list(KINDS)[(t // EVERY) % len(KINDS)]
        if t % RESTART == 0:  # a new request, with the beginning of a text of this kind
            start = rng.randrange(len(texts[kind]) - 100)
            context = texts[kind][start : start + 40]
        text = target.write(context, rng)
        lengths.append(
            {n: accepted(drafter.draft(context), text) for n, drafter in drafters.items()}
        )
        kinds.append(kind)
        context = (context + text)[-40:]
    return lengths, kinds


def play(lengths: list[dict[str, int]], rule: str, seen: str | None = None) -> float:
    """Return the mean accepted length of a router."""
    router, total = Router(lengths[0], rule=rule), 0
    for length in lengths:
        choice = router.choose(seen=seen)
        total += length[choice.action]
        gains = {name: value / LENGTH for name, value in length.items()}
        router.reward(choice.ticket, gains if seen else gains[choice.action])
    return total / len(lengths)


def upper_confidence(lengths: list[dict[str, int]]) -> float:
    """Return the mean accepted length of UCB1 (Auer, Cesa-Bianchi and Fischer, 2002)."""
    from math import log, sqrt  # noqa: PLC0415

    sums, counts, total = Counter[str](), Counter[str](), 0
    for t, length in enumerate(lengths):

        def score(name: str, t: int = t) -> float:
            if not counts[name]:
                return float("inf")
            return sums[name] / counts[name] / LENGTH + sqrt(2.0 * log(t) / counts[name])

        name = max(length, key=score)
        sums[name] += length[name]
        counts[name] += 1
        total += length[name]
    return total / len(lengths)


def main() -> None:
    """Print the mean accepted length of each way to choose."""
    lengths, kinds = rounds()
    for name in lengths[0]:
        each = {
            k: [n[name] for n, kind in zip(lengths, kinds, strict=True) if kind == k] for k in KINDS
        }
        means = ", ".join(f"{sum(part) / len(part):.2f} on {kind}" for kind, part in each.items())
        print(
            f"{name + ' alone':<38} {sum(n[name] for n in lengths) / len(lengths):.3f}   ({means})"
        )
    ways: dict[str, Callable[[], float]] = {
        "UCB1, one gain": lambda: upper_confidence(lengths),
        "EXP3-IX, one gain": lambda: play(lengths, "exp3-ix"),
        "Router, one gain": lambda: play(lengths, "auto"),
        "NormalHedge(memory=100), all gains": lambda: play(
            lengths, "normal-hedge:memory=100", "all"
        ),
        "Router, all gains": lambda: play(lengths, "auto", "all"),
    }
    for name, way in ways.items():
        print(f"{name:<38} {way():.3f}")
    best = sum(max(length.values()) for length in lengths) / len(lengths)
    print(f"{'the best drafter of each round':<38} {best:.3f}")


if __name__ == "__main__":
    main()
