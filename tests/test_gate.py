"""The queue before the model: first come, first served, and everybody sees his place."""

import threading

from specdec.ui.gate import Gate


def test_turns_come_in_the_order_of_asking():
    gate, order, threads = Gate(), [], []
    with gate.turn("first"):
        for name in ("a", "b", "c"):

            def work(name=name):
                with gate.turn(name):
                    order.append(name)

            threads.append(threading.Thread(target=work))
            threads[-1].start()
            while gate.ahead(name) == 0:  # until it stands in the queue
                pass
        assert [gate.ahead(n) for n in ("first", "a", "b", "c")] == [0, 1, 2, 3]
    for thread in threads:
        thread.join(10)
    assert order == ["a", "b", "c"] and gate.ahead("c") == 0


def test_one_at_a_time():
    gate, inside, most = Gate(), 0, []

    def work():
        nonlocal inside
        for _ in range(50):
            with gate.turn(threading.current_thread()):
                inside += 1
                most.append(inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(most) == 300 and max(most) == 1


def test_an_error_passes_the_turn_on():
    gate = Gate()
    try:
        with gate.turn("a"):
            raise ValueError
    except ValueError:
        pass
    with gate.turn("b"):
        assert gate.ahead("b") == 0
