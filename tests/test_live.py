"""A reader's run behind the page: steps, cancel, comparison, errors; on NumPy models."""

import pytest
from pairs_np import ByteTokenizer, Pair, drafting, random_model

from specdec.law import Sampling
from specdec.trace import Settings
from specdec.ui import engine
from specdec.ui.engine import Asked, Live


def ask(prompt="the kiln", k=3, sampling=Sampling()):
    return Asked(prompt, Settings(k, "model", sampling, max_new_tokens=20, seed=0))


ASKED = ask()


@pytest.fixture
def pair(monkeypatch):
    target = random_model(len(ByteTokenizer()), name="large")
    pair = Pair(target, drafting(target, error=0.5))
    monkeypatch.setattr(engine, "load", lambda *_: pair)
    return pair


def open_scorers(pair):
    return [s for m in (pair.target, pair.draft) for s in m.scorers if not s.closed]


def finish(live, asked=ASKED, **how):
    live.start(asked, **how)
    live.wait()
    return live


def test_a_run_and_plain_decoding_beside_it(pair):
    live = finish(Live())
    assert not live.error and live.trace.stop_reason == "length" and len(live.trace.token_ids) == 20
    assert live.plain.token_ids == live.trace.token_ids and live.check.natural.equal
    assert not open_scorers(pair), "a run that ended still holds its caches"


def test_one_round_then_the_rest_is_the_same_run(pair):
    whole, live = finish(Live()), finish(Live(), one_round=True)
    assert len(live.trace.rounds) == 1 and live.trace.stop_reason is None and live.plain is None
    finish(live)
    assert live.trace.token_ids == whole.trace.token_ids and live.plain is not None


def test_other_settings_begin_a_new_run_and_free_the_old(pair):
    live = finish(Live(), one_round=True)
    first = open_scorers(pair)
    finish(live, ask(k=2), one_round=True)
    assert live.trace.settings.k == 2 and all(s.closed for s in first)


def test_the_same_settings_again_after_the_end_begin_anew(pair):
    live = finish(finish(Live()), one_round=True)
    assert len(live.trace.rounds) == 1


def test_cancel_keeps_what_was_written(pair):
    live = Live()
    with engine.GATE.turn("somebody else"):
        live.start(ASKED)
        live.cancel()
    live.wait()
    assert live.trace.stop_reason == "cancelled" and not live.error and live.plain is None
    assert not open_scorers(pair)


def test_closing_the_tab_frees_a_paused_run(pair):
    live = finish(Live(), one_round=True)
    assert open_scorers(pair)
    live.close()
    assert not open_scorers(pair)


def test_a_reader_who_waits_is_told(pair):
    live = Live()
    with engine.GATE.turn("somebody else"):
        live.start(ASKED)
        while "Waiting" not in live.progress()[1]:
            pass
        assert live.progress() == (0.0, "Waiting: 1 turn of other readers first")
    live.wait()
    assert live.ended


def test_a_prompt_that_is_too_long_is_said_and_nothing_is_left(pair):
    live = finish(Live(), ask(prompt="é" * 600))  # two bytes each, a token each
    assert live.error == "The prompt has 1200 tokens; this page takes up to 1024."
    assert live.trace is None and not live.running and not open_scorers(pair)
    assert finish(live).trace.stop_reason == "length", "the next run must work"


def test_a_fault_of_ours_reaches_the_reader_as_a_sentence(pair, monkeypatch):
    monkeypatch.setattr(pair.tokenizer, "decode", lambda *a, **k: 1 / 0)
    live = finish(Live())
    assert live.error == "This failed, and should not have (ZeroDivisionError). Try again."


def test_sampled_runs_are_not_compared_word_for_word(pair):
    live = finish(Live(), ask(sampling=Sampling(temperature=1.0)))
    assert live.plain is not None and live.check is None


def test_k_0_is_plain_decoding(pair):
    live = finish(Live(), ask(k=0))
    assert live.trace.target_passes == 20 and live.check.natural.equal


def test_texts_that_part_are_looked_into(pair):
    """A target whose two best logits tie, and which breaks the tie by the shape of the pass."""

    class Uneven(type(pair.target)):
        def scorer(self, rows=None, capacity=None):
            made = super().scorer(rows, capacity)
            score = made.score

            def uneven(tokens, parents=None):
                logits = score(tokens)
                if rows is None and len(tokens) == 1:
                    logits[:, 5] = logits.max(axis=1) + 1e-3
                else:
                    logits[:, 6] = logits.max(axis=1) + 1e-3
                return logits

            made.score = uneven
            return made

    pair.target.__class__ = Uneven
    live = finish(Live())
    assert not live.error
    assert live.check.natural.first == 0
    assert live.check.tie.gap == pytest.approx(1e-3, abs=1e-9)
    assert live.check.fixed.equal


def test_a_torch_that_is_being_imported_is_not_asked(monkeypatch):
    """A page drawn while a thread imports torch met a module without its parts."""
    import sys
    from types import ModuleType

    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setattr(engine, "_LOADING", engine._Loading())
    assert engine.has_gpu() is False


def test_a_machine_whose_fixed_shape_is_not_exact_is_named(monkeypatch):
    from types import SimpleNamespace

    from specdec.models.pairs import INEXACT

    loading = engine._Loading()
    monkeypatch.setattr(engine, "_LOADING", loading)
    assert engine.warning() == ""
    loading.pairs["auto", "auto"] = SimpleNamespace(rows_are_exact=True)
    assert engine.warning() == ""
    loading.pairs["fp32", "auto"] = SimpleNamespace(rows_are_exact=False)
    assert engine.warning("fp32") == INEXACT
