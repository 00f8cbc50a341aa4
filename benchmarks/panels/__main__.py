"""``nox -s panels``: the blend on real panels, relative to the better of plain mean and median."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.panels import hubs
from benchmarks.panels.bench import OUT, Entry, Panel, entries, load
from benchmarks.panels.picture import GOAL, draw
from benchmarks.panels.scores import DEFAULT, eu_deaths, losses_of, score
from benchmarks.panels.split import KINDS


def main(given: Sequence[str] | None = None) -> None:
    """Print the table and its summary, and draw the picture of all."""
    asked = _parser().parse_args(given)
    hedgers = list(dict.fromkeys([DEFAULT, *asked.hedger]))
    chosen = [e for e in entries(asked.kind) if asked.only in {None, e.name, e.source}]
    print(_line("panel", "kind", ("rows", "experts", "series", "lag"), "loss", hedgers))
    rows, europe = [], {}
    for entry, panel in _loaded(chosen):
        for loss in losses_of(panel):
            found = score(panel, loss, hedgers)
            rows.append({"panel": entry.name, "kind": entry.kind, "loss": loss} | found)
            figures = [f"{found[name]:.3f}" for name in hedgers]
            numbers = (*panel.shape, entry.lag)
            print(_line(entry.name, entry.kind, numbers, loss, figures), flush=True)
        if entry.source == "eu-deaths":
            europe[entry.horizon] = panel
    if not rows:
        print("there is no such panel")
        return
    table = pd.DataFrame(rows)
    for line in summary(table, hedgers):
        print(line)
    if europe:
        print("\nEU deaths, MAE relative to the hub's baseline, mean over countries, by horizon")
        print(eu_deaths(europe, hedgers).round(3).to_string())
    if asked.only is None:
        picture = OUT / "panels.png"
        draw(table, hedgers, picture)
        print(f"\nthe picture: {picture.relative_to(OUT.parents[1])}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panels", description=__doc__)
    parser.add_argument(
        "--kind", choices=(*KINDS, "all"), default="develop",
        help="panels to develop on (the default); to judge on, when all is settled; or all",
    )  # fmt: skip
    parser.add_argument("--only", metavar="NAME", help="one panel, or the panels of one source")
    parser.add_argument(
        "--hedger", metavar="NAME", nargs="+", default=[], help="hedgers beside the default one"
    )
    return parser


def _loaded(chosen: Sequence[Entry]) -> Iterator[tuple[Entry, Panel]]:
    """Yield the panels that can be had; of the others, say why not."""
    for entry in chosen:
        try:
            panel = load(entry)
        except (FileNotFoundError, ImportError) as error:
            print(f"{entry.name:22} skipped: {error}", flush=True)
            continue
        yield entry, panel


def _line(name: str, kind: str, numbers: Sequence[Any], loss: str, figures: Sequence[str]) -> str:
    counts = "".join(f"{number:>8}" for number in numbers)
    return f"{name:22} {kind:8}{counts}  {loss:9}" + "".join(f"{text:>12}" for text in figures)


def summary(table: pd.DataFrame, hedgers: Sequence[str]) -> Iterator[str]:
    """Yield for each hedger and loss on how many panels the goal is met, and the worst panel."""
    for hedger in hedgers:
        yield f"\n{hedger}"
        for loss, part in table.groupby("loss", sort=False):
            within = int((part[hedger] <= GOAL).sum())
            worst = part.loc[part[hedger].idxmax()]
            issued = part["panel"].str.replace(r"-h\d+$", "", regex=True).isin(hubs.READERS)
            yield (
                f"  {loss:9} within {GOAL} on {within} of {len(part)} panels; geometric mean "
                f"{_geometric_mean(part[hedger]):.3f}"
                + (f", issued {_geometric_mean(part[hedger][issued]):.3f}" * bool(issued.any()))
                + f"; worst {worst[hedger]:.3f}, {worst['panel']}"
            )


def _geometric_mean(ratios: Any) -> float:
    return float(np.exp(np.log(ratios).mean()))


if __name__ == "__main__":
    main()
