"""Former names of packages: each still imports, with a warning, for one release."""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FORMER = {
    "normalhedge.adapters": "normalhedge.integrations",
    "normalhedge.certificates": "normalhedge.guarantees",
    "normalhedge.client": "normalhedge.service.client",
    "normalhedge.clusters": "normalhedge.integrations.clusters",
    "normalhedge.experiments": "normalhedge.research",
    "normalhedge.games": "normalhedge.research.games",
    "normalhedge.hubs": "normalhedge.tables.hubs",
    "normalhedge.intervals": "normalhedge.mixtures.intervals",
    "normalhedge.plots": "normalhedge.reports.plots",
    "normalhedge.potentials": "normalhedge.guarantees.potentials",
}
"""The present name of each package that moved."""


class FormerNames(MetaPathFinder):
    """Import a package that moved under its former name: the same module, and a warning."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the import of the present module, if ``fullname`` is a former name."""
        del path, target
        package = ".".join(fullname.split(".")[:2])
        if package not in FORMER:
            return None
        present = FORMER[package] + fullname[len(package) :]
        if importlib.util.find_spec(present) is None:
            return None
        if fullname == package:
            warnings.warn(
                f"{fullname} is now {present}; the former name goes with the next release",
                DeprecationWarning,
                stacklevel=2,
            )
        return ModuleSpec(fullname, _Alias(present))


class _Alias(Loader):
    """A loader that returns the present module."""

    def __init__(self, present: str) -> None:
        self._present = present

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make the placeholder that `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what stands in sys.modules: the present module itself.
        sys.modules[module.__name__] = importlib.import_module(self._present)

    def get_code(self, name: str) -> Any:
        spec = importlib.util.find_spec(self._present)
        loader: Any = spec.loader if spec else None
        return loader.get_code(self._present) if loader else name


def install() -> None:
    """Let former names be imported."""
    if not any(isinstance(finder, FormerNames) for finder in sys.meta_path):
        # First: the usual finder would search the path of a former package, and load modules twice.
        sys.meta_path.insert(0, FormerNames())
