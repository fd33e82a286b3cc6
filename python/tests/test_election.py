"""Members of a real election, on loopback."""

import socket
import time

import pytest

import conclave as cv


@pytest.fixture
def addresses():
    """Addresses for so many members. They stay bound, so that the system gives them to nobody else;
    members may listen there nevertheless, as they allow addresses to be reused."""
    sockets = []

    def bind(count):
        for _ in range(count):
            sockets.append(socket.socket())
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sockets[-1].bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]

    yield bind
    for each in sockets:
        each.close()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_three_members_elect_and_hand_over(addresses):
    members_at = addresses(3)
    events = []
    members = [cv.Election("test", members_at, place, lease=1.5,
                           won=lambda token, place=place: events.append(("won", place, token)),
                           lost=lambda token, place=place: events.append(("lost", place, token)))
               for place in range(3)]
    for each in members:
        each.start()
    wait_for(lambda: any(each.may_act for each in members))
    leaders = [place for place, each in enumerate(members) if each.may_act]
    assert len(leaders) == 1
    first = members[leaders[0]]
    token = first.token
    assert token == first.term and 0 < first.lease_left <= 1.5
    first.resign()
    wait_for(lambda: any(each.may_act for each in members if each is not first))
    later = next(each for each in members if each.may_act)
    assert later.token > token and not first.may_act and first.token is None
    for each in members:
        each.stop()
    assert ("won", leaders[0], token) in events and ("lost", leaders[0], token) in events


def test_an_exception_of_a_callback_surfaces_at_the_end_of_the_block(addresses):
    def broken(token):
        called.append(token)
        raise LookupError("in a callback")

    called = []
    with pytest.raises(LookupError, match="in a callback"):
        with cv.Election("alone", addresses(1), 0, lease=0.1, won=broken):
            wait_for(lambda: called)


def test_mistakes_are_sentences(addresses):
    with pytest.raises(cv.Error, match="at least 30 ms"):
        cv.Election("short", addresses(1), 0, lease=0.001)
    with pytest.raises((cv.Error, RuntimeError)):
        cv.Election("remote", ["192.0.2.1:7000"], 0)
