"""The package of integrations imports a library only when one of its names is used."""

import importlib.util
import subprocess
import sys

import pytest

from normalhedge import integrations


def test_every_name_is_there() -> None:
    assert integrations.__all__ == sorted(integrations.__all__) == dir(integrations)
    apart = [name for name in integrations.__all__ if not _is_here(integrations._PLACES[name][1])]
    assert set(apart) <= {"HedgeEnsembleModel", "HedgeForecaster", "blend_forecasts"}
    assert all(
        callable(getattr(integrations, name)) for name in integrations.__all__ if name not in apart
    )
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        integrations.Nobody  # noqa: B018


def _is_here(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def test_libraries_are_imported_when_they_are_used() -> None:
    program = (
        "import sys, normalhedge.integrations as integrations\n"
        "heavy = {'sklearn', 'river', 'hmmlearn', 'narwhals', 'pandas', 'sktime', 'darts'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "integrations.HedgeRegressor\n"
        "assert 'river' not in sys.modules and 'sklearn' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("HedgeClassifier", "sklearn", "sklearn"),
        ("HedgeEnsembleModel", "darts", "darts"),
        ("HedgeForecaster", "sktime", "sktime"),
        ("RiverHedgeRegressor", "river", "river"),
        ("HedgeEnsemble", "narwhals", "frames"),
        ("to_hmmlearn", "hmmlearn", "hmmlearn"),
    ],
)
def test_a_missing_library_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}: pip install .normalhedge\[{extra}\]"):
        getattr(integrations, name)
