"""The algorithm as two short programs with blanks: for each a right line, and wrong ones.

This text is what the code drill shows and what it runs. A line is chosen by its name; nothing that
a reader types ever comes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RIGHT = "right"


@dataclass(frozen=True)
class Line:
    """A line for a blank; `fails` names the case that shows what is wrong with it, "" if right."""

    name: str
    code: str
    fails: str = ""


@dataclass(frozen=True)
class Listing:
    """A program: its source with {blank} where a line is missing, and the lines of each blank."""

    name: str
    source: str
    blanks: Mapping[str, tuple[Line, ...]]  # the right line first

    def line(self, blank: str, name: str) -> Line:
        """A line by the names of its blank and itself; ValueError if there is none."""
        for line in self.blanks.get(blank, ()):
            if line.name == name:
                return line
        raise ValueError(f"{self.name}, blank {blank!r} has no line {name!r}.")

    def code(self, chosen: Mapping[str, str]) -> str:
        """The source with the chosen line in each blank, by names; the right one where none is."""
        lines = {blank: self.line(blank, chosen.get(blank, RIGHT)).code for blank in self.blanks}
        return self.filled(lines)

    def filled(self, lines: Mapping[str, str]) -> str:
        """The source with any text in the blanks, to show it."""
        return self.source.format_map(lines)


GREEDY = Listing(
    "greedy",
    """\
def round_of(target, drafter, text, k):
    guess, kept = [], 0
    for _ in range(k):
        {draft}
    {verify}
    {walk}
    {write}

def generate(target, drafter, n, k):
    text = []
    while len(text) < n:
        text = round_of(target, drafter, text, k)
    return text[:n]
""",
    {
        "draft": (
            Line(RIGHT, "guess += one_pass(drafter, [text + guess])"),
            Line("alone", "guess += one_pass(drafter, [text])", "partly"),
            Line("bare", "guess += one_pass(drafter, [guess])", "partly"),
            Line("target", "guess += one_pass(target, [text + guess])", "always"),
        ),
        "verify": (
            Line(RIGHT, "wanted = one_pass(target, [text + guess[:i] for i in range(k + 1)])"),
            Line(
                "short", "wanted = one_pass(target, [text + guess[:i] for i in range(k)])", "always"
            ),
            Line(
                "shifted",
                "wanted = one_pass(target, [text + guess[:i + 1] for i in range(k + 1)])",
                "partly",
            ),
            Line(
                "many",
                "wanted = [one_pass(target, [text + guess[:i]])[0] for i in range(k + 1)]",
                "always",
            ),
        ),
        "walk": (
            Line(RIGHT, "while kept < k and guess[kept] == wanted[kept]: kept += 1"),
            Line("anywhere", "kept = sum(g == w for g, w in zip(guess, wanted))", "partly"),
            Line("unbounded", "while guess[kept] == wanted[kept]: kept += 1", "always"),
            Line("all", "kept = k", "never"),
        ),
        "write": (
            Line(RIGHT, "return text + guess[:kept] + [wanted[kept]]"),
            Line("none", "return text + guess[:kept]", "never"),
            Line("rejected", "return text + guess[:kept + 1]", "never"),
            Line("last", "return text + guess[:kept] + [wanted[k]]", "partly"),
            Line(
                "tail", "return text + guess[:kept] + [wanted[kept]] + guess[kept + 1:]", "partly"
            ),
        ),
    },
)

SAMPLING = Listing(
    "sampling",
    """\
def round_of(p, q, text, k):
    guess = []
    for _ in range(k):
        {draft}
    p_rows = one_pass(p, [text + guess[:i] for i in range(k + 1)])
    for i, x in enumerate(guess):
        p_i, q_i = p_rows[i], q(text + guess[:i])
        {test}
            {left}
            {replace}
    {bonus}

def generate(p, q, n, k):
    text = []
    while len(text) < n:
        text = round_of(p, q, text, k)
    return text[:n]
""",
    {
        "draft": (
            Line(RIGHT, "guess.append(draw(q(text + guess)))"),
            Line("likeliest", "guess.append(likeliest(q(text + guess)))", "apart"),
            Line("alone", "guess.append(draw(q(text)))", "row"),
            Line("of_p", "guess.append(draw(p(text + guess)))", "apart"),
        ),
        "test": (
            Line(RIGHT, "if not chance(min(1, p_i[x] / q_i[x])):"),
            Line("hard", "if p_i[x] < q_i[x]:", "apart"),
            Line("upside", "if not chance(min(1, q_i[x] / p_i[x])):", "apart"),
            Line("only_p", "if not chance(p_i[x]):", "apart"),
        ),
        "left": (
            Line(RIGHT, "left = {y: max(0, p_i[y] - q_i[y]) for y in p_i}"),
            Line("whole", "left = dict(p_i)", "apart"),
            Line("mask", "left = {y: p_i[y] if y != x else 0 for y in p_i}", "apart"),
            Line("signed", "left = {y: p_i[y] - q_i[y] for y in p_i}", "apart"),
        ),
        "replace": (
            Line(RIGHT, "return text + guess[:i] + [draw(normalised(left))]"),
            Line("unscaled", "return text + guess[:i] + [draw(left)]", "apart"),
            Line("after", "return text + guess[:i] + [draw(p_rows[i + 1])]", "row"),
            Line(
                "tail", "return text + guess[:i] + [draw(normalised(left))] + guess[i + 1:]", "row"
            ),
        ),
        "bonus": (
            Line(RIGHT, "return text + guess + [draw(p_rows[k])]"),
            Line("none", "return text + guess", "same"),
            Line("previous", "return text + guess + [draw(p_rows[k - 1])]", "row"),
            Line("of_q", "return text + guess + [draw(q(text + guess))]", "row"),
        ),
    },
)

LISTINGS = (GREEDY, SAMPLING)
