"""The regret bound of a mixture: what the theorem of its hedger proves for its settings."""

from math import inf

from normalhedge._core import Games
from normalhedge.certificates import Bound
from normalhedge.hedgers import CompiledHedger
from normalhedge.mixtures._sums import STEPS
from normalhedge.mixtures.automatic import Automatic
from normalhedge.mixtures.recipe import Recipe


def regret_bound(
    recipe: Recipe, games: Games, *, experts: int, items: int, rounds: int, joined_late: bool
) -> Bound:
    """Return the proved bound on the regret of a mixture: see `Mixture.bound`.

    Parameters
    ----------
    recipe, games
        The settings and the compiled part of the mixture.
    experts, items, rounds
        The numbers of experts, of items and of predicted rounds.
    joined_late
        Whether an expert joined after the first outcome.
    """
    hedger = recipe.hedger
    if isinstance(hedger, Automatic):
        return hedger.bound(recipe.loss, games)
    if not isinstance(hedger, CompiledHedger):
        return Bound(inf, f"nothing is known of {type(hedger).__name__}")
    played_rounds = int(games.total_sums[STEPS]) if recipe.shared else rounds
    bound, name = hedger.bound(max(experts, 1), max(played_rounds, 1)), type(hedger).__name__
    range_is_learned = not recipe.loss.width or (recipe.shared and items > 1)
    if bound and range_is_learned and not hedger.free_of_scale:
        return Bound(inf, f"no theorem covers {name} where the range of losses is learned")
    if bound and joined_late and "a_sleeper_changes_nothing" in hedger.breaks:
        return Bound(inf, f"no theorem covers {name} where experts join later")
    return bound
