"""Draft, verify, accept: speculative decoding, exact and explained."""

from specdec import decode, drafters, law, rule, toy, trace
from specdec.law import Sampling
from specdec.run import Run, generate, plain, rounds
from specdec.trace import Trace
