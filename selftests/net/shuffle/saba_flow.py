# SPDX-License-Identifier: GPL-2.0-or-later
"""UDP at a rate, as an application of Saba that always has something to send.

usage: saba_flow.py send ADDRESS MBIT	datagrams of 1400 bytes, until SIGTERM; prints their number
       saba_flow.py count			receive them until SIGTERM; prints how many came
       saba_flow.py bulk ADDRESS BYTES	by TCP, until all of them are there
       saba_flow.py take			receive that, again and again

A socket is marked when it is made: a new one every 32 datagrams takes note of a level
that has changed, as connections do.
"""
import signal
import socket
import sys
import time

SIZE = 1400
PORT = 5201
SO_RCVBUFFORCE = 33


over = False


def end(_signal, _frame):
    global over
    over = True


def send(addr, mbit):
    gap = (SIZE + 42) * 8 / (mbit * 1e6)
    at = time.monotonic()
    n, s = 0, None
    while not over:
        if n % 32 == 0:
            if s:
                s.close()
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            s.sendto(n.to_bytes(4, "big") + bytes(SIZE - 4), (addr, PORT))
        except ConnectionRefusedError:
            pass
        n += 1
        # a machine that stood still does not have to catch up
        at = max(at + gap, time.monotonic() - 1)
        wait = at - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    print(n)


def count():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
    s.bind(("", PORT))
    s.settimeout(.1)
    print("ready", flush=True)
    seen = set()
    while True:
        try:
            seen.add(s.recv(65536)[:4])
        except TimeoutError:
            if over:
                break
    print(len(seen), flush=True)


def bulk(addr, size):
    with socket.create_connection((addr, PORT)) as s:
        s.sendall(bytes(size))
        s.shutdown(socket.SHUT_WR)
        assert s.recv(2) == b"!"


def take():
    with socket.create_server(("", PORT)) as s:
        while True:
            peer, _ = s.accept()
            with peer:
                while peer.recv(1 << 20):
                    pass
                peer.sendall(b"!")


if sys.argv[1] == "bulk":
    bulk(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1] == "take":
    take()
else:
    signal.signal(signal.SIGTERM, end)
    if sys.argv[1] == "count":
        count()
    else:
        send(sys.argv[2], float(sys.argv[3]))
