"""Drafters on one prompt: what is recorded is the run's own, and its passes cost what they cost."""

from __future__ import annotations

import pytest

from specdec import arms, theory
from specdec.arms import Arms, Asked
from specdec.between import Drafter, between
from specdec.schema import build, parse
from specdec.wasted import Ends
from tests.machines import PRESET
from tests.pairs_np import Pair, closed, drafting, random_model
from tests.tokenizers_np import ByteTokenizer

ASKED = (Asked("model", 3), Asked("model", 8), Asked("lookup", 4), Asked("target", 4))


def pair() -> Pair:
    target = random_model(len(ByteTokenizer()), seed=1, sharpness=6, name="big")
    return Pair(target, drafting(target, error=0.5), stop_ids=())


@pytest.fixture(scope="module")
def found() -> Arms:
    *_, (_, last) = arms.compete(pair(), PRESET, ASKED, n=40)
    return last


def test_every_arm_wrote_the_whole_text(found):
    assert [arm.asked for arm in found.arms] == list(ASKED) and found.tokens == 40
    for arm in found.arms:
        assert sum(step.written for step in arm.steps) == 40
        assert arm.ends.accepted + arm.ends.wasted == sum(step.drafted for step in arm.steps)


def test_the_target_is_always_right_about_itself(found):
    own = found.arms[-1]
    assert own.alpha == 1.0 and own.ends.rejected == 0
    assert len(own.steps) == 8  # 40 tokens, 5 a pass


def test_what_was_found_comes_back_from_its_file(found):
    assert build(Arms, parse(found.to_json()), "arms") == found


def test_the_caches_are_freed_and_progress_only_grows():
    used = pair()
    shares = [share for share, _ in arms.compete(used, PRESET, ASKED, n=8)]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert closed(used)


def test_a_drafter_that_was_asked_nothing_right_has_alpha_0():
    arm = arms.Arm(Asked("lookup", 4), (), None, 1.0)
    assert (arm.alpha, arm.ends) == (0.0, Ends(0, 0, 0))


def test_the_way_between_two_drafters_begins_and_ends_at_them():
    one, other = Drafter(0.1, 0.01, 0.05), Drafter(1.0, 0.9, 0.05)
    assert between(one, other, 0.0) == one and between(one, other, 1.0) == other
    half = between(one, other, 0.5)
    assert (half.alpha, half.c) == pytest.approx((0.55, 0.455))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_speed_ups_on_the_way_are_the_closed_forms(share):
    at = between(Drafter(0.2, 0.0, 0.0), Drafter(0.9, 0.8, 0.1), share)
    assert at.speedup(4) == theory.speedup(at.alpha, 4, at.c, at.v)
    k, top = at.best(16)
    assert top == at.speedup(k)
    assert all(top >= at.speedup(other) - 1e-12 for other in range(17))
    even = at.break_even(4)
    assert theory.speedup(even, 4, at.c, at.v) == pytest.approx(1)
    assert (at.speedup(4) >= 1) == (at.alpha >= even)


def test_no_alpha_pays_for_a_drafter_slower_than_the_target():
    assert Drafter(1.0, 1.4, 0.0).break_even(4) is None
