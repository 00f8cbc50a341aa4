"""Two yardsticks for hedgers that learn: the plain average and follow the leader."""

from dataclasses import dataclass

from normalhedge.hedgers._compiled_hedger import DiscountedHedger


@dataclass(frozen=True)
class Uniform(DiscountedHedger):
    """Give every expert the same weight in every round: the baseline for hedgers that learn.

    Parameters
    ----------
    alpha
        The discount rate of the regrets in the state, in [0, 1); it does not change the weights.

    Notes
    -----
    The regret to the average expert is zero; the regret to the best expert can reach
    ``2 T (N - 1) / N``. A round costs O(N) time and a state O(N) memory.

    Examples
    --------
    >>> Uniform().run([[1.0, 0.0], [1.0, -1.0]]).gains
    array([0.5, 0. ])
    """

    algorithm = "uniform"
    free_of_scale = True


@dataclass(frozen=True)
class FollowTheLeader(DiscountedHedger):
    r"""Give all the weight to the expert that is ahead, in equal parts if several are tied.

    It is hard to beat if one expert is truly the best, and it loses badly to two experts that take
    turns. It is a yardstick: no other hedger here can be made to lose in every round.

    .. math:: p_i \propto 1[R_i = \max_j R_j]

    If experts are asleep, the leader among the awake experts is followed.

    Notes
    -----
    There is no bound: if the leader loses and all others gain in every round, the regret reaches
    ``2 T (N - 1) / N``. A round costs O(N) time and a state O(N) memory.

    Examples
    --------
    >>> FollowTheLeader().run([[0.5, 0.0], [-1.0, 1.0], [1.0, -1.0]]).gains
    array([ 0.25, -1.  , -1.  ])
    """

    algorithm = "follow_the_leader"
    free_of_scale = True
