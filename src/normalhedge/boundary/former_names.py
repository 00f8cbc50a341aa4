"""Former names of packages and modules: each still imports, with a warning, for one release."""

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

_MERGED = {
    "normalhedge.hedgers": """
        uniform follow_the_leader decreasing_hedge optimistic_hedge flip_flop ada_hedge_d
        fixed_share variable_share regret_matching_plus dorm dorm_plus squint_common ml_prod boa
        ml_poly ml_poly_opera normal_hedge_2009 normal_hedge_bh normal_hedge_dt ada_normal_hedge
    """,
    "normalhedge.research.games.natures": """
        blocks break_away contrary good_and_bad greedy independent_coins
    """,
}
"""The packages that export the content of their former modules."""

MOVED = {
    **{
        f"{package}.{name}": package for package, names in _MERGED.items() for name in names.split()
    },
    "normalhedge.mixtures.automatic": "normalhedge.mixtures.rules._automatic",
    "normalhedge.mixtures.settings": "normalhedge.mixtures.state._settings",
    "normalhedge.mixtures.summary": "normalhedge.mixtures.summaries._summary",
    "normalhedge.mixtures.table_facts": "normalhedge.mixtures.state._table_facts",
    "normalhedge.mixtures.tickets": "normalhedge.mixtures.state._tickets",
}
"""The present name of each module that moved and that pickles of the last release name."""

_TOP_LEVEL = {
    "hedgers": """
        AdaHedge AdaHedgeD AdaNormalHedge BOA BatesGranger CoinBetting CompiledHedger DORM DORMPlus
        DecreasingHedge FixedShare FlipFlop FollowTheLeader Hedge Hedger MLPoly MLPolyOpera MLProd
        NormalHedge2009 NormalHedgeBH NormalHedgeDT OptimisticHedge RegretMatching
        RegretMatchingPlus Report Run Squint SquintCommon State Uniform VariableShare
    """,
    "guarantees": "Bound",
    "guarantees.potentials": "ExponentialPotential NormalPotential",
}
"""The packages of names that ``normalhedge`` itself exported."""


def package_of(name: str) -> str | None:
    """Return the package of a name that was at the top level, relative to ``normalhedge``."""
    return next((package for package, names in _TOP_LEVEL.items() if name in names.split()), None)


class FormerPackages(MetaPathFinder):
    """Import a package that moved under its former name: the same module, and a warning."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the import of the present module, if ``fullname`` is a former name."""
        del path, target
        package = ".".join(fullname.split(".")[:2])
        if package not in FORMER:
            return None
        return _alias(fullname, FORMER[package] + fullname[len(package) :], fullname == package)


class PrivateModules(MetaPathFinder):
    """Import a module that became private under its former name: pickles hold such names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the import of the private module, if no module is called ``fullname``."""
        del path, target
        package, _, name = fullname.rpartition(".")
        if not package.startswith("normalhedge") or name.startswith("_"):
            return None
        return _alias(fullname, MOVED.get(fullname, f"{package}._{name}"), warn=True)


def _alias(former: str, present: str, warn: bool) -> ModuleSpec | None:  # noqa: FBT001
    if importlib.util.find_spec(present) is None:
        return None
    if warn:
        warnings.warn(
            f"{former} is now {present}; the former name goes with the next release",
            DeprecationWarning,
            stacklevel=3,
        )
    return ModuleSpec(former, _Alias(present))


class _Alias(Loader):
    """A loader that returns the present module."""

    def __init__(self, present: str) -> None:
        self._present = present

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make the placeholder that `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns the entry of sys.modules: the present module itself.
        sys.modules[module.__name__] = importlib.import_module(self._present)

    def get_code(self, name: str) -> Any:
        spec = importlib.util.find_spec(self._present)
        loader: Any = spec.loader if spec else None
        return loader.get_code(self._present) if loader else name


def install() -> None:
    """Let former names be imported."""
    if not any(isinstance(finder, FormerPackages) for finder in sys.meta_path):
        # First: the usual finder would search the path of a former package, and load modules twice.
        sys.meta_path.insert(0, FormerPackages())
        # Last: only names that no other finder has are former names.
        sys.meta_path.append(PrivateModules())
