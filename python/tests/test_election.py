"""Members of a real election, on loopback."""

import socket
import time

import pytest

import conclave as cv


def ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    numbers = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return [f"127.0.0.1:{number}" for number in numbers]


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_three_members_elect_and_hand_over():
    addresses = ports(3)
    events = []
    members = [cv.Election("test", addresses, place, lease=0.3,
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
    assert token == first.term and 0 < first.lease_left <= 0.3
    first.resign()
    wait_for(lambda: any(each.may_act for each in members if each is not first))
    later = next(each for each in members if each.may_act)
    assert later.token > token and not first.may_act and first.token is None
    for each in members:
        each.stop()
    assert ("won", leaders[0], token) in events and ("lost", leaders[0], token) in events


def test_an_exception_of_a_callback_surfaces_at_the_end_of_the_block():
    def broken(token):
        raise LookupError("in a callback")

    with pytest.raises(LookupError, match="in a callback"):
        with cv.Election("alone", ports(1), 0, lease=0.1, won=broken) as member:
            wait_for(lambda: member.term > 0)
            time.sleep(0.3)


def test_mistakes_are_sentences():
    with pytest.raises(cv.Error, match="at least 30 ms"):
        cv.Election("short", ports(1), 0, lease=0.001)
    with pytest.raises((cv.Error, RuntimeError)):
        cv.Election("remote", ["192.0.2.1:7000"], 0)
