"""Experts that join, leave, get other names, inherit and retire."""

from collections.abc import Sequence

from normalhedge.mixtures._mixture_views import INSIDE, MixtureViews


class MixtureExperts(MixtureViews):
    """The part of `Mixture` that changes its experts."""

    def join(self, names: Sequence[str]) -> None:
        """Let experts join as if they had slept so far; names of present experts change nothing."""
        with self._live.turn, INSIDE:
            self._books.join(names)

    def leave(self, name: str) -> None:
        """Remove an expert; its weight goes to the others, and its name is free again.

        Its forecasts are removed from pending rounds, and its sums are lost.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot leave, nor a plain combination of ``include``.
        """
        with self._live.turn, INSIDE:
            self._books.leave(name)

    def rename(self, old: str, new: str) -> None:
        """Give an expert another name; its weight, its record and its pending forecasts stay.

        Parameters
        ----------
        old, new
            The present name, and a name that no expert has.
        """
        with self._live.turn, INSIDE:
            self._books.rename(old, new)

    def inherit(self, new: str, old: str) -> None:
        """Let an expert start where another stands, as a new version of a model does.

        The new expert gets a copy of what the hedger remembers of the old one, so that both have
        the same weight; the record of its own forecasts starts empty. If the old one will not
        forecast any more, let it `retire` or `leave`.

        Parameters
        ----------
        new
            The name of the new expert; it joins if it is not present.
        old
            The name of a present expert.

        Examples
        --------
        >>> from normalhedge import Mixture
        >>> mixture = Mixture()
        >>> for outcome in range(30):
        ...     made = mixture.predict({"gbm": outcome + 0.1, "ar": outcome - 5.0})
        ...     mixture.update(made.ticket, float(outcome))
        >>> mixture.inherit("gbm_v2", "gbm")
        >>> mixture.retire("gbm")
        >>> mixture.next_weights(["gbm_v2", "ar"])["gbm_v2"] > 0.9
        True
        """
        with self._live.turn, INSIDE:
            self._books.inherit(new, old)

    def retire(self, name: str) -> None:
        """Let an expert sleep for good, whatever is forecast in its name.

        Its record stays in the summary and its name stays taken; `leave` removes both.

        Parameters
        ----------
        name
            One of `names`. The last expert cannot retire.
        """
        with self._live.turn, INSIDE:
            self._books.retire(name)
