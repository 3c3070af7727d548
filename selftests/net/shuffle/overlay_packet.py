#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets and filters of an overlay that nobody has planned, and what is left of its programs.

overlay_packet.py filter HOP...      a filter of 64 bits with these hops FROM>TO, and with no other
                                     hop of theirs: words of a line "path"
overlay_packet.py plain TO           a packet to the shuffle port of TO
overlay_packet.py raw PORT FROM TO HEX
                                     these bytes, from a port
overlay_packet.py way FROM TO HOPS SOURCE DESTINATION [NAME=VALUE...] -- HOP...
                                     a packet with a filter, by the link FROM, TO, with one inside
                                     from SOURCE to DESTINATION; what it has other than a right
                                     one: flags, hashes, bits, zero, port, proto, cut (bytes of it)
overlay_packet.py left               number of programs and maps of overlays in the kernel
"""

import ctypes
import os
import socket
import struct
import sys

MASK = (1 << 64) - 1
GOLDEN = 0x9e3779b97f4a7c15
SHUFFLE_PORT = 818
BITS, HASHES = 64, 8
MAGIC = 0x37


def mix(x):
    """The finaliser of splitmix64, as tools/topo says it, written again."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def places(hop, salt):
    """The bits of a hop."""
    x = mix(((hop[0] << 32 | hop[1]) + (salt + 1) * GOLDEN) & MASK)
    for _ in range(HASHES):
        yield (x >> 32) * BITS >> 32
        x = mix((x + GOLDEN) & MASK)


def make_filter(words):
    """The salt and the word of a filter that has these hops and no other ones of these servers."""
    hops = [tuple(int(n) for n in word.split(">")) for word in words]
    servers = {n for hop in hops for n in hop}
    for salt in range(256):
        bits = 0
        for hop in hops:
            for at in places(hop, salt):
                bits |= 1 << at
        wrong = [1 for a in servers for b in servers if a != b and (a, b) not in hops and
                 all(bits >> at & 1 for at in places((a, b), salt))]
        if not wrong:
            return salt, bits
    sys.exit("no salt for %s" % words)


def sender(address, port, hops):
    """A socket that sends from there; port 0: one of shuffle traffic, which nobody has."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for each in [port] if port else range(1023, 767, -1):
        try:
            sock.bind((address, each))
            break
        except OSError:
            if port or each == 768:
                raise
    if hops:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
    return sock


def packet(source, destination, port, proto):
    """IP and UDP header, and a payload that is no record."""
    payload = b"nothing of a shuffle"
    udp = struct.pack("!HHHH", 900, port, 8 + len(payload), 0) + payload
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, proto, 0,
                     socket.inet_aton(source), socket.inet_aton(destination))
    total = sum(struct.unpack("!10H", ip))
    total = (total & 0xffff) + (total >> 16)
    return ip[:10] + struct.pack("!H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + ip[12:] + udp


def way(args):
    """See above."""
    at = args.index("--")
    (here, there, hops, source, destination), named = args[:5], args[5:at]
    salt, bits = make_filter(args[at + 1:])
    other = {"flags": 0, "hashes": HASHES, "bits": BITS, "zero": 0, "port": SHUFFLE_PORT,
             "proto": socket.IPPROTO_UDP, "cut": 1 << 16}
    other.update((name, int(value)) for name, value in (word.split("=") for word in named))
    data = struct.pack("!BBBBHHQ", MAGIC, other["flags"], other["hashes"], salt, other["bits"],
                       other["zero"], bits)
    data += packet(source, destination, other["port"], other["proto"])
    sender(here, 0, int(hops)).sendto(data[:other["cut"]], (there, SHUFFLE_PORT))


def names(next_id, by_id):
    """Names of all programs, or maps: bpf(2), as there need be no bpftool."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 321}[os.uname().machine]
    at = 0
    while True:
        attr = ctypes.create_string_buffer(struct.pack("=III", at, 0, 0).ljust(64, b"\0"))
        if libc.syscall(number, next_id, attr, 64):
            return
        at = struct.unpack_from("=I", attr, 4)[0]
        attr = ctypes.create_string_buffer(struct.pack("=III", at, 0, 0).ljust(64, b"\0"))
        fd = libc.syscall(number, by_id, attr, 64)
        if fd < 0:
            continue
        info = ctypes.create_string_buffer(256)
        attr = ctypes.create_string_buffer(
            struct.pack("=IIQ", fd, 256, ctypes.addressof(info)).ljust(64, b"\0"))
        if not libc.syscall(number, 15, attr, 64):
            # bpf_prog_info, bpf_map_info: where each has its name
            where = 64 if next_id == 11 else 24
            yield info.raw[where:where + 16].split(b"\0")[0].decode()
        os.close(fd)


OVERLAY_MAPS = ("settings", "neighbours", "by_address", "ways", "own", "counters", "links",
                "scratch")


def main():
    """See above."""
    what, args = sys.argv[1], sys.argv[2:]
    if what == "filter":
        salt, bits = make_filter(args)
        print("bits %d hashes %d salt %d filter %016x" % (BITS, HASHES, salt, bits))
    elif what == "plain":
        sender("", 0, 0).sendto(b"nothing of a shuffle", (args[0], SHUFFLE_PORT))
    elif what == "raw":
        port, here, there, data = args
        sender(here, int(port), 0).sendto(bytes.fromhex(data), (there, SHUFFLE_PORT))
    elif what == "way":
        way(args)
    elif what == "left":
        print(sum(name.startswith("overlay_") for name in names(11, 13)) +
              sum(name in OVERLAY_MAPS for name in names(12, 14)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
