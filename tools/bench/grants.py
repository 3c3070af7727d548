#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long packets with a GRANT were on their way, from captures of all hosts.

usage: grants.py WAY RUN FOLDER HOSTS

Prints one line for report.py.
"""
import collections
import struct
import sys

GRANT = 2
LENGTHS = {1: None, 2: 40, 3: 24, 4: 40}


def packets(path):
    """(ns, IP source, IP destination, UDP payload) of each packet of a capture."""
    with open(path, "rb") as f:
        data = f.read()
    magic = struct.unpack_from("<I", data)[0]
    if magic != 0xA1B23C4D:
        sys.exit(f"{path}: no capture with nanoseconds")
    off = 24
    while off + 16 <= len(data):
        seconds, nanos, have, _ = struct.unpack_from("<IIII", data, off)
        frame = data[off + 16:off + 16 + have]
        off += 16 + have
        ip = frame[14:]
        udp = ip[(ip[0] & 15) * 4:]
        yield seconds * 10**9 + nanos, ip[12:16], ip[16:20], udp[8:struct.unpack_from(">H", udp, 4)[0]]


def has_grant(payload):
    """A control packet is a row of records."""
    while len(payload) >= 24:
        kind = payload[0] & 15
        if kind == GRANT:
            return True
        if not LENGTHS.get(kind):
            return False
        payload = payload[LENGTHS[kind]:]
    return False


def main():
    """Match what left with what arrived; equal packets in their order."""
    way, run, folder, hosts = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    left, came = collections.defaultdict(list), collections.defaultdict(list)
    for host in range(hosts):
        self = bytes([10, 77, 0, host + 1])
        for at, source, to, payload in packets(f"{folder}/{host}"):
            if has_grant(payload):
                (left if source == self else came)[source, to, payload].append(at)
    delays, lost = [], 0
    for key, starts in left.items():
        ends = came.get(key, [])
        lost += len(starts) - len(ends)
        delays += [e - s for s, e in zip(starts, ends)]
    if not delays:
        sys.exit("grants.py: no packet with a GRANT was seen at both ends")
    delays.sort()
    transport = "shuffle" if way == "with" else "shuffle-noqdisc"
    print(f"BENCH case=qdisc-grant-delay hosts={hosts} transport={transport} run={run} ok=1 "
          f"grants={len(delays)} p50_ns={delays[len(delays) // 2]} "
          f"p99_ns={delays[len(delays) * 99 // 100]} max_ns={delays[-1]} lost={lost}")


main()
