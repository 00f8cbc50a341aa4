"""Real series that come inside wheels on PyPI; nothing is downloaded.

Each reader returns a table with a column for each series and a row for each time, in order; a
series may begin late. Gaps inside a series repeat the last value, as nothing else was known at that
time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.panels.split import kind


@dataclass(frozen=True)
class Source:
    """A table of series, and how standard models are to forecast it.

    Attributes
    ----------
    name, read
        What the split goes by; and the series.
    period
        How many rows make a season; 1 where there is none.
    horizons
        How many steps ahead is forecast; each makes a panel.
    start
        How many rows the models see before their first forecast.
    refit, memory
        After how many rows models that are slow to fit are fitted again, and to how many rows at
        most; all rows by default. Long series only.
    """

    name: str
    read: Callable[[], pd.DataFrame]
    period: int
    horizons: tuple[int, ...]
    start: int
    refit: int = 1
    memory: int | None = None

    @property
    def kind(self) -> str:
        """Whether to develop or to judge on it."""
        return kind(self.name)


def _file(package: str, path: str, **options: Any) -> pd.DataFrame:
    """Read a table in the folder of an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} is not installed: see `nox -s panels`")
    return pd.read_csv(Path(spec.origin).parent / path, **options)


def _filed(package: str, path: str, *columns: str, **options: Any) -> Callable[[], pd.DataFrame]:
    """Return a reader of some columns of a file."""
    return lambda: _file(package, path, **options)[list(columns)].astype(float)


def _statsmodels(path: str, *columns: str) -> Callable[[], pd.DataFrame]:
    return _filed("statsmodels", f"datasets/{path}", *columns)


def _sktime(path: str, *columns: str) -> Callable[[], pd.DataFrame]:
    return _filed("sktime", f"datasets/data/{path}", *columns)


def _vega(path: str, *columns: str) -> Callable[[], pd.DataFrame]:
    return _filed("vega_datasets", f"_data/{path}", *columns)


def _pmdarima(name: str) -> Callable[[], pd.DataFrame]:
    """Return a reader of a series that stands in the code of pmdarima."""

    def read() -> pd.DataFrame:
        values = getattr(import_module("pmdarima.datasets"), f"load_{name}")()
        return pd.DataFrame({name: values})

    return read


def _co2() -> pd.DataFrame:
    return _statsmodels("co2/co2.csv", "co2")().ffill()


def _elnino() -> pd.DataFrame:
    return _file("statsmodels", "datasets/elnino/elnino.csv").drop(columns="YEAR")


def _stocks() -> pd.DataFrame:
    prices = _file("vega_datasets", "_data/stocks.csv")
    prices["date"] = pd.to_datetime(prices["date"], format="%b %d %Y")
    return prices.pivot_table(index="date", columns="symbol", values="price")


def _employment() -> pd.DataFrame:
    jobs = _file("vega_datasets", "_data/us-employment.csv")
    return jobs.drop(columns=["month", "nonfarm_change"]).astype(float)


def _prices(path: str, column: str, rows: int) -> Callable[[], pd.DataFrame]:
    """Return a reader of the last daily prices of a file of arch; holidays have a point there."""

    def read() -> pd.DataFrame:
        prices = pd.to_numeric(_file("arch", path)[column], errors="coerce")
        return prices.ffill().tail(rows).to_frame(column)

    return read


MACRO = ("realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi", "m1", "tbilrate", "unemp")
GROWTH = ("Consumption", "Income", "Production", "Savings", "Unemployment")
WEATHER = ("precipitation", "temp_max", "temp_min", "wind")

SOURCES = (
    Source("co2", _co2, 52, (1, 13), 156, 26, 520),
    Source("sunspots", _statsmodels("sunspots/sunspots.csv", "SUNACTIVITY"), 11, (1, 5), 33),
    Source("elnino", _elnino, 1, (1,), 15),
    Source("nile", _statsmodels("nile/nile.csv", "volume"), 1, (1, 5), 15),
    Source("macrodata", _statsmodels("macrodata/macrodata.csv", *MACRO), 4, (1, 4), 40, 4),
    Source(
        "elec-equip",
        _statsmodels("elec_equip/elec_equip.csv", "STS.M.I7.W.TOVT.NS0016.4.000"),
        12, (1, 12), 48,
    ),
    Source(
        "interest-inflation", _statsmodels("interest_inflation/E6.csv", "Dp", "R"), 4, (1, 4), 24
    ),
    Source("airline", _sktime("Airline/Airline.csv", "Passengers"), 12, (1, 12), 36),
    Source("lynx", _sktime("Lynx/Lynx.csv", "0"), 10, (1, 5), 30),
    Source("shampoo", _sktime("ShampooSales/ShampooSales.csv", "Sales"), 1, (1,), 8),
    Source("pbs", _sktime("PBS_dataset/PBS_dataset.csv", "Scripts"), 12, (1, 12), 36),
    Source("uschange", _sktime("Uschange/Uschange.csv", *GROWTH), 4, (1, 4), 40, 4),
    Source("seatbelts", _sktime("seatbelts/seatbelts.csv", "KSI"), 12, (1, 12), 36),
    Source("solar", _sktime("solar/solar.csv", "solar_gen"), 48, (1, 12), 97, 8),
    Source("ausbeer", _pmdarima("ausbeer"), 4, (1, 8), 24),
    Source("austres", _pmdarima("austres"), 4, (1, 4), 16),
    Source("wineind", _pmdarima("wineind"), 12, (1, 12), 36),
    Source("woolyrnq", _pmdarima("woolyrnq"), 4, (1, 4), 16),
    Source("heartrate", _pmdarima("heartrate"), 1, (1, 10), 20),
    Source("taylor", _pmdarima("taylor"), 48, (1, 48), 672, 96, 480),
    Source("seattle-weather", _vega("seattle-weather.csv", *WEATHER), 7, (1, 7), 90, 28, 365),
    Source("seattle-temps", _vega("seattle-temps.csv", "temp"), 24, (1, 24), 336, 168, 336),
    Source("sf-temps", _vega("sf-temps.csv", "temp"), 24, (1, 24), 336, 168, 336),
    Source("stocks", _stocks, 1, (1, 6), 24),
    Source("us-employment", _employment, 12, (1, 12), 36, 6),
    Source("vix", _prices("data/vix/vix.csv.gz", "vix", 1305), 5, (1, 20), 100, 20, 500),
    Source("wti", _prices("data/wti/wti.csv.gz", "DCOILWTICO", 3000), 5, (1, 20), 250, 20, 500),
    Source(
        "water-flow",
        _filed("river", "datasets/water-flow.csv", "Water flow [l/s]"),
        24, (1, 24), 168, 24, 336,
    ),
)  # fmt: skip
