# SPDX-License-Identifier: GPL-2.0-or-later
"""The protocol of shuffle-sabad, requests that are none, and clients that misbehave.

usage: protocol.py SOCKET	of a daemon with profiles A and B and 2 ports
"""
import random
import socket
import sys

PATH = sys.argv[1]


def client():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(PATH)
    return s


def ask(s, text):
    """The last record of the answer; events and lists are passed over."""
    s.send(text if isinstance(text, bytes) else text.encode())
    while True:
        r = s.recv(65536).decode()
        if not r or r.startswith(("ok", "error")):
            return r


def check(s, text, want):
    got = ask(s, text)
    assert got.startswith(want), "%r: %r, not %r" % (text, got, want)
    return got


def requests():
    a = client()
    check(a, "connect any", "error register first")
    check(a, "deregister", "error this process is not registered")
    check(a, "register", "error register wants")
    check(a, "register X", "error X: no profile")
    check(a, "register A", "ok level=1 dscp=33")
    check(a, "register A", "error this process is registered already")
    check(a, "connect 10.0.0.1", "ok conn=1 ports=1")
    check(a, "connect ::ffff:10.0.0.2", "ok conn=2 ports=1")
    check(a, "connect any", "ok conn=3 ports=2")
    check(a, "connect 10.0.0.9", "ok conn=4 ports=0")
    check(a, "connect 10.0.0.0/8", "error connect wants")
    check(a, "connect", "error connect wants")
    check(a, "disconnect 2", "ok")
    check(a, "disconnect 2", "error disconnect wants")
    check(a, "disconnect -1", "error disconnect wants")
    check(a, "disconnect 99999999999999999999", "error disconnect wants")
    b = client()
    check(b, "register B", "ok level=2 dscp=34")
    check(b, "set A 50", "ok")
    check(b, "set A auto", "ok")
    check(b, "set A 0", "error set wants")
    check(b, "set A 96", "error set wants")
    check(b, "set A", "error set wants")
    check(b, "set X 5", "error X is not registered")
    b.send(b"show")
    seen = []
    while not (seen and seen[-1].startswith("ok")):
        seen.append(b.recv(65536).decode())
    (one,) = [r for r in seen if r.startswith("app name=A ")]
    assert " connections=3 " in one, one
    # the end of a process ends its registration
    a.close()
    for _ in range(100):
        b.send(b"show")
        seen = []
        while not (seen and seen[-1].startswith("ok")):
            seen.append(b.recv(65536).decode())
        if not any(r.startswith("app name=A ") for r in seen):
            break
    else:
        raise AssertionError("A is still registered: %s" % seen)
    check(b, "deregister", "ok")
    b.close()


def limits():
    s = client()
    check(s, "x" * 511, "error an unknown request")
    check(s, "x" * 512, "error a request of more than 511 bytes")
    check(s, b"register A\0", "error a request with a zero byte")
    check(s, "   ", "error an empty request")
    check(s, "register A B", "error more words")
    check(s, "show all", "error")
    check(s, "register " + "A" * 64, "error register wants")
    check(s, "register A", "ok")
    for _ in range(4096):
        s.send(b"connect any")
        assert s.recv(100).startswith(b"ok")
    check(s, "connect any", "error too many connections")
    s.close()


def does_not_read():
    """Who asks and does not read is dropped; others are served."""
    s = client()
    s.settimeout(.5)
    try:
        for _ in range(20000):
            s.send(b"show")
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        pass
    other = client()
    check(other, "show", "ok")
    other.close()
    s.close()


def fuzz(rounds=1500):
    """Requests made of pieces of requests, and bytes."""
    r = random.Random(1)
    words = ["register", "connect", "disconnect", "deregister", "show", "set", "reload", "A", "B",
             "any", "10.0.0.1", "fd00::1", "1", "2", "-1", "auto", "%s%n", "", " ", "\n", "50",
             "9" * 30, "::ffff:1.2.3.4/128", "é", "A" * 63]
    many = [client() for _ in range(8)]
    for _ in range(rounds):
        i = r.randrange(len(many))
        if r.random() < .02:
            many[i].close()
            many[i] = client()
        if r.random() < .3:
            text = bytes(r.randrange(256) for _ in range(r.randrange(1, 600)))
        else:
            text = r.choice([" ", "  ", "\n"]).join(
                r.choice(words) for _ in range(r.randrange(1, 5))).encode() or b" "
        if text.strip(b" \n").startswith(b"stop"):
            continue
        got = ask(many[i], text)
        assert got.startswith(("ok", "error")), (text, got)
    for s in many:
        s.close()


def crowd():
    """Many clients at a time."""
    many = []
    for i in range(300):
        s = client()
        check(s, "register " + "AB"[i % 2], "ok")
        check(s, "connect any", "ok")
        many.append(s)
    for s in many:
        s.close()
    s = client()
    check(s, "show", "ok")
    s.close()


for part in (requests, limits, does_not_read, fuzz, crowd):
    part()
    print(part.__name__, flush=True)
