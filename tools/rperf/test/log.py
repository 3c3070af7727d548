#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a line of HdrHistogram's log as its specification says, without the program's help.

usage: log.py LOG: prints values and the 99th percentile
"""
import base64
import struct
import sys
import zlib


def counts(data):
    """ZigZag LEB128 numbers: a count, or a run of zeros."""
    at = 0
    while at < len(data):
        value = shift = 0
        for i in range(9):
            byte = data[at]
            at += 1
            if i == 8:
                value |= byte << shift
                break
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        value = value >> 1 ^ -(value & 1)
        if value < 0:
            yield from [0] * -value
        else:
            yield value


def main():
    """Decodes the last line."""
    with open(sys.argv[1], encoding="utf-8") as f:
        line = f.read().splitlines()[-1]
    packed = base64.b64decode(line.split(",")[-1])
    cookie, length = struct.unpack_from(">II", packed)
    assert cookie == 0x1c849314 and length == len(packed) - 8
    data = zlib.decompress(packed[8:])
    head = struct.unpack_from(">IIIIQQd", data)
    assert head[0] == 0x1c849313 and head[1] == len(data) - 40 and head[3:5] == (3, 1)
    cells = list(counts(data[40:]))
    total, seen = sum(cells), 0
    for i, n in enumerate(cells):
        seen += n
        if seen >= 0.99 * total:
            bucket = 0 if i < 2048 else i // 1024 - 1
            print(total, (i - bucket * 1024 << bucket) + ((1 << bucket) - 1) // 2)
            return


if __name__ == "__main__":
    main()
