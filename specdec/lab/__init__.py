"""The losslessness lab: rules for one position, right and wrong, their exact limits and draws.

Wrong rules live here alone; the engine knows only those of `specdec.rule`, which write exactly p.
"""

from specdec.lab.laws import exact_law, variation
from specdec.lab.rules import RULES, Rule, accepted, by_name, limit

__all__ = ["RULES", "Rule", "accepted", "by_name", "exact_law", "limit", "variation"]
