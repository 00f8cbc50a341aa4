"""Panels of expert forecasts that nobody can overfit: ``python -m benchmarks.panels``.

All panels are real: forecasting teams and pollsters (`hubs`), and standard models that forecast
real series from every origin (`rolling`, `sources`). On each, the blend is called with nothing but
the names of columns and a loss, and is measured by the better of plain mean and median (`scores`).

*Issued* forecasts were published by others before the outcomes were known, by teams, pollsters,
weather models and price models (`hubs.READERS`); the others are made here. Their mean is reported
by itself, since hopeless members are rare among them.

The rule
--------
Half of the panels are to develop on: look at them as often as you like, and choose defaults by
them. The other half is to judge on: run them when all is settled, and report them whatever they
say. Do not choose anything by them, and do not look into one of them to see what went wrong.

Where a panel falls was decided before any loss was computed, by its source alone, so that all
horizons of one source are on one side (`split`):

- The hubs and the pollsters were looked at long ago: they are to develop on. So are the stations,
  Innsbruck and the prices, which joined later as data to develop on.
- Any other source is to judge on if the CRC-32 of ``"3 "`` and its name is odd. Of the salts 0, 1,
  2, ..., 3 was the first with which the two kinds differed by one panel at most (32 and 31).

A new source falls where its name puts it. The salt is not changed, and no source is renamed or
taken out because of its results.
"""
