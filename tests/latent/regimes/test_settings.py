"""The options of regimes, which stand in one place."""

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest
from click.testing import CliRunner

from normalhedge.cli._latent import command
from normalhedge.latent import Regimes, infer
from normalhedge.latent.regimes._infer import OWN
from normalhedge.latent.regimes._settings import RegimesSettings
from tests.latent.regimes.examples import series

NAMES = [one.name for one in fields(RegimesSettings)]


def test_the_constructor_takes_them_with_their_texts() -> None:
    assert list(inspect.signature(Regimes).parameters) == NAMES
    doc = inspect.getdoc(Regimes) or ""
    assert "{options}" not in doc
    for one in fields(RegimesSettings):
        assert f"\n{one.name}\n    {one.metadata['text'].split()[0]}" in doc
    with pytest.raises(TypeError, match=r"Regimes\(\) got an unexpected keyword argument 'stats'"):
        Regimes(stats=2)  # type: ignore[call-arg]


def test_infer_takes_those_that_the_series_does_not_decide() -> None:
    given = inspect.signature(infer).parameters
    assert set(NAMES) - set(OWN) <= set(given)
    assert not set(OWN) & set(given)
    assert given["budget"].default == RegimesSettings.budget
    with pytest.raises(TypeError, match=r"infer\(\) got an unexpected keyword argument 'symbols'"):
        infer([1.0, 2.0], symbols=2)


def test_the_command_line_has_those_with_a_short_text() -> None:
    words = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    for one in fields(RegimesSettings):
        text = f"{one.metadata['short']} [default: {one.metadata['shown']}]"
        assert (f"--{one.name} " in words and text in words) == bool(one.metadata["short"])


def test_settings_are_values_with_all_defaults_filled_in() -> None:
    settings = Regimes("poisson", 2, budget=1).settings
    assert settings.numbers == (2,)
    assert settings.budget == 2
    assert settings.hedger is not None
    assert replace(settings, worth=0.5).worth == 0.5
    with pytest.raises(AttributeError):
        settings.worth = 1.0  # type: ignore[misc]


def test_a_generator_is_copied() -> None:
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    one = Regimes(rng=rng)
    one.run(series("gaussian", 120))
    assert rng.bit_generator.state == before
    assert one.settings.rng is not None
    assert one.settings.rng.bit_generator.state == before
