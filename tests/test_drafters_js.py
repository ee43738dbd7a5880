"""Page 6 in node: the lanes' clock, the walk through a tree, the rows of its mask."""

from __future__ import annotations

import re

import numpy as np
import pytest

from specdec import contest, tree, tree_rounds
from specdec.timeline import timeline
from specdec.ui import component, drafters_lanes, drafters_tree, stage
from tests import stage_node
from tests.twigs import grown

SCRIPT = """
const made = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
give((() => { %s })());
"""


@pytest.fixture(scope="module")
def lanes(node):
    script = component.script("lanes", drafters_lanes.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": script, "input": given})


@pytest.fixture(scope="module")
def drawn(node):
    script = component.script("tree", drafters_tree.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": script, "input": given})


def contests():
    return [contest.load("chat"), contest.load("copy", "sampled")]


def test_a_lane_stands_where_its_run_stood(lanes):
    for found in contests():
        wired = drafters_lanes.wire(found, found.names)["lanes"]
        runs = [timeline(entry.trace) for entry in found.entries]
        times = np.linspace(0, 1.1 * max(run.end for run in runs), 40).tolist()
        got = lanes(
            "return input.lanes.map(made.laneOf)"
            ".map((lane) => input.times.map((t) => made.standAt(lane, t).tokens));",
            lanes=wired,
            times=times,
        )
        for run, lane, tokens in zip(runs, wired, got):
            ends = [mark[3] for mark in lane["marks"]]
            near = [min(abs(t - end) for end in ends) < 1e-5 for t in times]  # digits of the wire
            assert [x for x, n in zip(tokens, near) if not n] == [
                run.tokens_at(t) for t, n in zip(times, near) if not n
            ]


def test_blocks_are_as_wide_as_their_phases_were_long(lanes):
    found = contest.load("chat")
    wired = drafters_lanes.wire(found, found.names)["lanes"]
    total = max(lane["marks"][-1][3] for lane in wired)
    got = lanes(
        "return input.lanes.map((lane) => made.shapesOf(made.laneOf(lane), input.total));",
        lanes=wired,
        total=total,
    )
    for lane, shapes in zip(wired, got):
        took = np.diff(np.array(lane["marks"]), axis=1)
        for i, phase in enumerate(("draft", "verify", "accept")):
            boxes = re.findall(r"M([\d.e-]+) 100V\d+H([\d.e-]+)V100Z", shapes[phase])
            wide = [float(to) - float(begin) for begin, to in boxes]
            there = [1000 * x / total for x in took[:, i] if x > 0]
            assert wide == pytest.approx(there, abs=3e-3)


def test_events_are_every_end_once_and_lead_on_and_back(lanes):
    events, on, back = lanes(
        """const events = made.eventsOf(input.lanes.map(made.laneOf));
        const on = [0], back = [events.at(-1)];
        while (on.at(-1) < events.at(-1)) on.push(made.eventFrom(events, on.at(-1), 1));
        while (back.at(-1) > 0) back.push(made.eventFrom(events, back.at(-1), -1));
        return [events, on, back];""",
        lanes=[{"marks": [[0, 1, 2, 3], [3, 3, 5, 6]], "written": [2, 3]},
               {"marks": [[0, 0, 4, 4], [4, 4, 6, 6]], "written": [1, 2]}],
    )  # fmt: skip
    assert events == on == [0, 3, 4, 6] and back == [6, 4, 3, 0]


def rounds():
    traces = [found.entry(name).trace for found in contests() for name in ("tree", "model")]
    return [(r, told) for trace in [*traces, *grown()[:4]]
            for r, told in zip(trace.rounds, drafters_tree.wire(trace)["rounds"])]  # fmt: skip


def test_the_keys_walk_the_tree_and_never_leave_it(drawn):
    for r, told in rounds()[::3]:
        nodes, parents = told["nodes"], tree_rounds.parents(r)
        got = drawn(
            "const ways = ['out', 'in', 'up', 'down'];"
            "return [-1, ...input.nodes.keys()]"
            ".map((at) => ways.map((way) => made.nodeFrom(input.nodes, at, way)));",
            nodes=nodes,
        )
        after, depths = tree.children(parents), tree.depths(parents)
        for at, (out, back, up, down) in zip(range(-1, len(nodes)), got):
            assert out in after.get(at, [at])
            kept = [i for i in after.get(at, []) if nodes[i]["verdict"] == "accepted"]
            assert not kept or out == kept[0]
            if at < 0:
                assert (back, up, down) == (-1, -1, -1)
                continue
            assert back == parents[at]
            level = [i for i in range(len(nodes)) if depths[i] == depths[at]]
            level.sort(key=lambda i: nodes[i]["row"])
            here = level.index(at)
            assert up == level[max(here - 1, 0)]
            assert down == level[min(here + 1, len(level) - 1)]


def test_a_row_of_the_mask_is_the_text_and_the_path(drawn):
    for r, told in rounds()[::3]:
        sees = tree.mask(tree_rounds.parents(r))
        got = drawn(
            "return [-1, ...input.nodes.keys()].map((at) => made.maskRow(input.nodes, at));",
            nodes=told["nodes"],
        )
        n = len(told["nodes"])
        assert got[0] == [True, True, *[False] * n]  # the last token of the text
        assert [row[2:] for row in got[1:]] == sees.tolist()
        assert all(row[:2] == [True, True] for row in got)


@pytest.mark.parametrize(
    ("place", "wanted"),
    [({}, [1, 0]), ({"round": 99, "node": 99}, [2, 1]), ({"round": "x", "node": -2}, [1, 0])],
)
def test_a_place_is_brought_into_the_rounds(drawn, place, wanted):
    got = drawn(
        "const { round, node } = made.placeIn([{ nodes: [] }, { nodes: [1] }], input.place);"
        "return [round, node];",
        place=place,
    )
    assert got == wanted


def test_the_stage_says_that_it_hides_the_branches_of_a_tree(node):
    js = stage_node.runner(node)
    for trace in grown():
        run = stage.wire(trace)
        said = js(
            "return stage.planOf(input.run.rounds)"
            ".map((s) => [s.phase, s.round, stage.sayOf(s, input.run)]);",
            run=run,
        )
        for phase, at, words in said:
            hidden = len(trace.rounds[at].drafted) - len(run["rounds"][at]["drafted"])
            assert run["rounds"][at]["branches"] == hidden > 0
            if phase == "draft":
                assert f"a tree of {len(trace.rounds[at].drafted)} guesses" in words
                assert f"{hidden} guess" in words and "hidden" in words
            if phase == "verify":
                assert f"scores {len(trace.rounds[at].drafted) + 1} positions" in words
