"""Statistics of scores: counts, values and seeds go in; estimates with their intervals, p-values and sizes come out.

==========================  ==================================================================================
one pass rate or mean       `wilson` `clopper_pearson` `beta_interval` `t_interval` `clustered` `bootstrap`
several trials of one task  `pass_at_k` `pass_hat_k` `pass_k_table`
two systems, same cases     `paired_difference` `newcombe` `mcnemar_exact` `mcnemar_midp` `sign_flip`
two systems, other cases    `newcombe_independent`
several comparisons         `holm`
a judge against people      `confusion` `kappa` `rogan_gladen` `ppi`
how many cases              `mde` `power` `cases_needed` `cases_for_paired_rates` `cases_for_rates` `cases_to_claim`
==========================  ==================================================================================

Only scored cases go in: NaN and None are refused, never skipped. What the data cannot determine comes back as None,
with the reason in ``note``. Randomness has a seed. Needs the standard library, and numpy where something is resampled.
"""

from .agreement import confusion, kappa, ppi, rogan_gladen
from .intervals import Interval, beta_interval, clopper_pearson, clustered, t_interval, wilson
from .paired import (
    PValue,
    holm,
    mcnemar_exact,
    mcnemar_midp,
    newcombe,
    newcombe_independent,
    paired_difference,
)
from .planning import (
    cases_for_paired_rates,
    cases_for_rates,
    cases_needed,
    cases_to_claim,
    difference_variance,
    mde,
    power,
)
from .repeats import PassK, pass_at_k, pass_hat_k, pass_k_table
from .resampling import bootstrap, bootstrap_means, sign_flip

__all__ = [
    "Interval",
    "PValue",
    "PassK",
    "beta_interval",
    "bootstrap",
    "bootstrap_means",
    "cases_for_paired_rates",
    "cases_for_rates",
    "cases_needed",
    "cases_to_claim",
    "clopper_pearson",
    "clustered",
    "confusion",
    "difference_variance",
    "holm",
    "kappa",
    "mcnemar_exact",
    "mcnemar_midp",
    "mde",
    "newcombe",
    "newcombe_independent",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "pass_k_table",
    "power",
    "ppi",
    "rogan_gladen",
    "sign_flip",
    "t_interval",
    "wilson",
]
