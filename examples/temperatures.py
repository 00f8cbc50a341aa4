"""Make temperatures.csv: the highest temperature of each day in Seattle, and five simple forecasts of it.

The measurements are NOAA's, as they come with vega-datasets. Each forecast uses earlier days only.
"""

from pathlib import Path

from vega_datasets import data

table = data.seattle_weather().set_index("date")[["temp_max"]].asfreq("D")
table.columns = ["y"]
before = table["y"].shift()
table["yesterday"] = before
table["trend"] = before + (before - before.shift(2)) / 2
table["week"] = before.rolling(7).mean()
table["last_year"] = table["y"].shift(358).rolling(15).mean()
table["average"] = before.expanding().mean()
table.loc["2013-01-08":].round(2).to_csv(Path(__file__).parent / "temperatures.csv")
