# SPDX-License-Identifier: GPL-2.0-or-later
"""The protocol of shuffle-sabad, requests that are none, and clients that misbehave.

usage: protocol.py SOCKET few	of a daemon with 80 descriptors
       protocol.py SOCKET	of a daemon with profiles A, B and C0 to C299, and 2 ports
"""
import os
import random
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

from tap import equal, has, starts, true  # noqa: E402

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


def rows_of(s):
    """The records of an answer that is under way."""
    seen = []
    while not (seen and seen[-1].startswith("ok")):
        seen.append(s.recv(65536).decode())
        true(seen[-1], "row %d" % len(seen))
    return seen


def check(s, text, want):
    got = ask(s, text)
    starts(got, want, repr(text))
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
    seen = rows_of(b)
    (one,) = [r for r in seen if r.startswith("app name=A ")]
    has(one, " connections=3 ", "one")
    # the end of a process ends its registration
    a.close()
    for _ in range(100):
        b.send(b"show")
        seen = rows_of(b)
        if not any(r.startswith("app name=A ") for r in seen):
            break
    else:
        raise AssertionError("A is still registered: %s" % seen)
    check(b, "deregister", "ok")
    b.close()


def lies():
    """Who else one claims to be, and how much one claims to send, counts for nothing."""
    s = client()
    for more in ("1", "pid=1", "uid=0", "size=1", "2147483647"):
        check(s, "register A " + more, "error more words")
    check(s, "connect 10.0.0.1", "error register first")
    check(s, "register A", "ok")
    for more in ("1", "bytes=1", "64"):
        check(s, "connect 10.0.0.1 " + more, "error more words")
    check(s, "connect 10.0.0.1", "ok conn=1")
    # what another process has is not one's own
    other = client()
    check(other, "disconnect 1", "error disconnect wants")
    check(other, "deregister", "error this process is not registered")
    # credentials of another process and user, which root may put into a message
    try:
        other.sendmsg([b"register B"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS,
                                         struct.pack("3i", os.getppid(), 4321, 4321))])
        got = other.recv(100)
        starts(got, b"ok", "got")
    except PermissionError:
        check(other, "register B", "ok")
    other.send(b"show")
    apps = [r for r in rows_of(other) if r.startswith("app ")]
    equal(len(apps), 2, "len(apps)")
    assert all(" uid=%d " % os.getuid() in r for r in apps), apps
    other.close()
    s.close()


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
        starts(s.recv(100), b"ok", "s.recv(100)")
    check(s, "connect any", "error too many connections")
    s.close()


def long_list():
    """More rows than a socket holds: all of them come."""
    many = []
    for i in range(300):
        s = client()
        check(s, "register C%d" % i, "ok")
        many.append(s)
    s = client()
    s.send(b"show")
    rows = sum(r.startswith("app name=C") for r in rows_of(s))
    equal(rows, 300, "rows")
    check(s, "register A", "ok")
    # one that asks and does not read, while what it asks for changes
    deaf = client()
    deaf.send(b"show")
    for i in range(0, 300, 2):
        many[i].close()
    check(s, "deregister", "ok")
    rows_of(deaf)
    check(deaf, "register A", "ok")
    for i in many + [s, deaf]:
        i.close()


def does_not_read():
    """Who asks and does not read waits; others are served."""
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
        starts(got, ("ok", "error"), repr(text))
    for s in many:
        s.close()


def mutate(rounds=3000):
    """Requests that are in order but for a few bytes."""
    r = random.Random(2)
    good = [b"register A", b"register B", b"connect any", b"connect 10.0.0.1", b"connect fd00::2",
            b"disconnect 1", b"disconnect 2", b"deregister", b"show", b"set A 50", b"set B auto"]
    many = [client() for _ in range(4)]
    for _ in range(rounds):
        text = bytearray(r.choice(good))
        for _ in range(r.choice((0, 1, 1, 2, 5))):
            at = r.randrange(len(text) + 1)
            kind = r.randrange(4)
            if kind == 0:
                text.insert(at, r.randrange(256))
            elif kind == 1:
                del text[at:at + r.randrange(1, 4)]
            elif kind == 2:
                text[at:at] = text[at:at + 8] * r.randrange(1, 30)
            elif at < len(text):
                text[at] ^= 1 << r.randrange(8)
        i = r.randrange(len(many))
        if not text or text.split()[:1] == [b"stop"]:
            continue
        got = ask(many[i], bytes(text))
        starts(got, ("ok", "error"), repr(text))
        if r.random() < .01:
            many[i].close()
            many[i] = client()
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


def few():
    """More clients than descriptors: some are refused, and later ones are served."""
    many = []
    for _ in range(100):
        s = client()
        try:
            if ask(s, "connect any").startswith("error"):
                many.append(s)
                continue
        except (BrokenPipeError, ConnectionResetError):
            pass
        s.close()
    equal(len(many), 80 - 32, "clients that are served")
    check(many[0], "register A", "ok")
    for s in many:
        s.close()
    s = client()
    check(s, "register A", "ok")
    s.close()


for part in (few,) if sys.argv[2:] == ["few"] else (
        requests, lies, limits, long_list, does_not_read, fuzz, mutate, crowd):
    part()
    print(part.__name__, flush=True)
