"""The heads of laws in a trace: what they leave out is the mass of other tokens, never rounding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import recordings
from specdec.presets import presets
from specdec.record import top


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=14), st.integers(1, 10))
def test_the_rest_is_zero_exactly_where_the_head_is_the_whole_law(weights, n):
    law = np.zeros(40)
    law[3 : 3 + len(weights)] = np.array(weights) / sum(weights)
    head = top(law, n)
    assert len(head.entries) == min(n, len(weights))
    if len(weights) <= n:
        assert head.rest == 0.0
    else:
        assert head.rest == pytest.approx(np.sort(law)[:-n].sum(), abs=1e-12)


def test_a_law_whose_sum_rounds_below_one_has_no_others():
    law = np.array([0.1] * 3 + [0.7])  # 0.1 + 0.1 + 0.1 + 0.7 < 1 in floats of this order
    law = law[::-1]
    assert 1.0 - sum(law) > 0
    assert top(law, 4).rest == 0.0


def test_a_tiny_mass_outside_the_head_stays():
    law = np.array([1 - 2**-40, 2**-40])
    assert 0 < top(law, 1).rest < 1e-11


def test_no_recording_shows_rounding_as_other_tokens():
    for preset in presets():
        for r in recordings.load(preset.name, "sampled").speculative.rounds:
            for token in r.drafted:
                for head in (token.p_top, token.q_top, token.residual_top):
                    assert head.rest == 0.0 or head.rest > 1e-12
