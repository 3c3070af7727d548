#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send bytes to a host by TCP, and take what another host sends.

usage: bulk.py BYTES ADDRESS
"""
import os
import socket
import sys
import time

PORT = 5001
CHUNK = bytes(1 << 20)


def take(server):
    """Read one connection to its end."""
    conn, _ = server.accept()
    while conn.recv(1 << 20):
        pass


def main():
    """One process takes, one sends."""
    left, address = int(sys.argv[1]), sys.argv[2]
    server = socket.create_server(("", PORT))
    if not os.fork():
        take(server)
        os._exit(0)
    for _ in range(10000):
        try:
            conn = socket.create_connection((address, PORT))
            break
        except OSError:
            time.sleep(0.0001)
    else:
        sys.exit("bulk.py: no connection")
    while left > 0:
        left -= conn.send(CHUNK[:min(left, len(CHUNK))])
    conn.close()
    os.wait()


main()
