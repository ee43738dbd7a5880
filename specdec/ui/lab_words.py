"""The lab's tables, alternative texts and stories."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from specdec import lab, rule
from specdec.lab import stories as told
from specdec.lab.experiment import Asked, Found
from specdec.lab.two import Two, two

DIGITS = 9999  # a larger denominator is shown as a decimal


def exact(number: Any) -> str:
    """A fraction as itself where that is short, else as a decimal.

    Example:
        >>> exact(Fraction(7, 20)), exact(Fraction(1, 99991))
        ('7/20', '1e-05')
    """
    number = Fraction(number)
    return str(number) if number.denominator <= DIGITS else f"{float(number):.4g}"


@lru_cache(64)
def limits(asked: Asked) -> dict[str, np.ndarray]:
    """The exact law [V] that each asked rule writes."""
    p, q = asked.laws
    return {name: lab.limit(lab.by_name(name), p, q) for name in asked.rules}


@lru_cache(64)
def pairs(p: tuple, q: tuple) -> dict[str, Two]:
    """The engine's rules on two positions, by enumeration."""
    laws = np.array(p, dtype=object), np.array(q, dtype=object)
    return {which: two(which, *laws) for which in rule.RULES}


def verdict(name: str, asked: Asked) -> str:
    """Is the limit p? In a glyph and words."""
    away = lab.variation(limits(asked)[name], asked.laws[0])
    if away:
        return f"✗ off by {exact(away)}"
    return "✓ exactly p" if lab.by_name(name).lossless else "= p, by luck of these laws"


def table(asked: Asked) -> None:
    """What each rule tends to, exactly: nothing here is drawn."""
    p, q = asked.laws
    rows = [
        {
            "rule": "p itself",
            "verdict": "",
            "accepted": "",
            **{n: exact(x) for n, x in zip(asked.names, p)},
        }
    ]
    for name, law in limits(asked).items():
        kept = lab.accepted(lab.by_name(name), p, q)
        rows.append(
            {
                "rule": lab.by_name(name).title,
                "verdict": verdict(name, asked),
                "accepted": "nothing drafted" if kept is None else exact(kept),
                **{n: exact(x) for n, x in zip(asked.names, law)},
            }
        )
    st.table(rows)
    st.caption(
        "Verdict: total variation between the rule's law and p, the largest error in any event's "
        "chance. Accepted: the chance that a draft is kept. Exact, by enumeration of every draft."
    )


def drawn_table(found: Found) -> None:
    """The measured numbers of each rule beside the exact ones."""
    st.table(
        [
            {
                "rule": lab.by_name(name).title,
                "exact": verdict(name, found.asked),
                "measured error": f"{draws.points[-1][1]:.5f}",
                "for honest draws": _place(draws.points[-1][1], found, draws.n),
                "accepted": "–" if name == "target" else f"{draws.accepted / draws.n:.4f}",
                "draws": f"{draws.n:,}",
            }
            for name, draws in found.one.items()
        ]
    )


def shares_table(found: Found) -> None:
    """The numbers of the first chart."""
    rows = [
        {"token": name, "p": f"{float(p):.4f}"} for name, p in zip(found.asked.names, found.asked.p)
    ]
    for name, draws in found.one.items():
        for row, count in zip(rows, draws.counts):
            row[lab.by_name(name).title] = f"{count / draws.n:.4f}"
    with st.expander("The numbers of this chart"):
        st.table(rows)


def errors_table(found: Found) -> None:
    """The numbers of the second chart, a row a decade."""
    band, rows = found.band, []
    decades = {
        n: i for i, n in enumerate(band.n) if n in {10**e for e in range(1, 7)} | {band.n[-1]}
    }
    for n, i in decades.items():
        row = {
            "draws": f"{n:,}",
            "99 % of honest draws": f"{band.low[i]:.5f} to {band.high[i]:.5f}",
        }
        for name, draws in found.one.items():
            error = dict(draws.points).get(n)
            row[lab.by_name(name).title] = "–" if error is None else f"{error:.5f}"
        rows.append(row)
    with st.expander("The numbers of this chart"):
        st.table(rows)


def shares_alt(found: Found) -> str:
    """The first chart in words."""
    bars = "; ".join(
        f"{lab.by_name(name).title}: "
        + ", ".join(f"{t} {c / d.n:.3f}" for t, c in zip(found.asked.names, d.counts))
        for name, d in found.one.items()
    )
    law = ", ".join(f"{t} {float(x):.3f}" for t, x in zip(found.asked.names, found.asked.p))
    return f"Bars: the share of each token under each rule, with p marked. p: {law}. {bars}."


def errors_alt(found: Found) -> str:
    """The second chart in words."""
    ends = "; ".join(
        f"{lab.by_name(name).title} ends at {d.points[-1][1]:.5f} after {d.n} draws, "
        f"exact limit {exact(lab.variation(limits(found.asked)[name], found.asked.laws[0]))}"
        for name, d in found.one.items()
    )
    return (
        "Lines on two logarithmic axes: total variation against p, by number of draws. The band of "
        f"honest draws ends at {found.band.low[-1]:.5f} to {found.band.high[-1]:.5f}. {ends}."
    )


def two_table(found: Found) -> None:
    """Both positions drafted at once: what each lossless rule of the engine keeps."""
    st.markdown(
        "**Two drafted positions.** The same laws twice, both drafted before the target looks. All "
        "three rules write both tokens exactly; *block verification* judges them together, so a "
        "lucky second token can save an unlucky first, and it keeps at least as many."
    )
    exactly = pairs(found.asked.p, found.asked.q)
    st.table(
        [
            {
                "rule": TITLES[which],
                "accepted of 2, exact": f"{exact(exactly[which].expected)} = "
                f"{float(exactly[which].expected):.4f}",
                "accepted of 2, drawn": f"{draws.accepted / draws.n:.4f}",
                "law of the pair": _pair_verdict(exactly[which], found.asked),
                "measured error": f"{draws.points[-1][1]:.5f}",
                "for honest draws": _pair_place(draws.points[-1][1], found, draws.n),
            }
            for which, draws in found.two.items()
        ]
    )


def stories(asked: Asked) -> None:
    """For each asked rule what it does; for a wrong one what shows, where, why, and the cure."""
    columns = st.columns(2, gap="medium")
    for i, name in enumerate(asked.rules):
        r, story = lab.by_name(name), told.stories()[name]
        with columns[i % 2].expander(
            f"{'✓' if r.lossless else '✗'} {r.title}", expanded=not r.lossless
        ):
            st.markdown(story.does)
            for word in ("symptom", "seen", "cause", "cure"):
                if text := getattr(story, word):
                    st.markdown(f"**{'Seen in' if word == 'seen' else word.capitalize()}.** {text}")


TITLES = {"pq": "min(1, p/q), one by one", "match": "Sampler-match", "block": "Block verification"}


def _place(error: float, found: Found, n: int) -> str:
    if n != found.band.n[-1]:
        return "cut short"
    return _inside(error, found.band.low[-1], found.band.high[-1])


def _pair_place(error: float, found: Found, n: int) -> str:
    if n != found.asked.n:
        return "cut short"
    return _inside(error, found.pair_band.low[0], found.pair_band.high[0])


def _inside(error: float, low: float, high: float) -> str:
    if error > high:
        return "✗ above the band"
    return "✓ inside the band" if error >= low else "below the band, by luck"


def _pair_verdict(result: Two, asked: Asked) -> str:
    p, _ = asked.laws
    away = lab.variation(result.law, np.outer(p, p))
    return "✓ exactly p · p" if away == 0 else f"✗ off by {exact(away)}"
