"""Draft, verify, accept: speculative decoding, exact and explained.

Letters, everywhere: p = the target's law and q = the drafter's, both after temperature, top-k and
top-p (some papers swap them) · k = drafted tokens a round · α = chance that a judged token is
accepted · c = a drafter pass ÷ a target pass · v = one more verified position ÷ a target pass ·
u = the uniform of a test · residual = max(0, p − q), renormalised.
"""

from specdec import adaptive, decode, drafters, law, rule, simulate, theory, toy, trace
from specdec.law import Sampling
from specdec.models.pairs import load_pair
from specdec.run import Run, generate, plain, rounds
from specdec.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "Run",
    "Sampling",
    "Trace",
    "adaptive",
    "decode",
    "drafters",
    "generate",
    "law",
    "load_pair",
    "plain",
    "rounds",
    "rule",
    "simulate",
    "theory",
    "toy",
    "trace",
]
