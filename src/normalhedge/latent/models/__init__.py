"""Hidden Markov models that are fitted to data, by EM and online EM."""

from normalhedge.latent.models._fit_groups import Job as Job
from normalhedge.latent.models._fitted import (
    Fitted as Fitted,
    draw_path as draw_path,
    stationary as stationary,
)
from normalhedge.latent.models._fitting import (
    Fits as Fits,
    begin_fits as begin_fits,
    fit as fit,
    fit_series as fit_series,
)
from normalhedge.latent.models._moving import Moving as Moving, fit_moving as fit_moving
from normalhedge.latent.models._online_em import (
    OnlineEM as OnlineEM,
    units_for as units_for,
)
from normalhedge.latent.models._tasks import FLOOR as FLOOR, scale as scale
