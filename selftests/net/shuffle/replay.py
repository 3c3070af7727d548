#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send the frames of a capture again: replay.py FILE DEVICE [TIMES [MILLISECONDS]]

FILE is what tcpdump -w writes, UDP over IPv4; all frames are sent TIMES times (1), with a
pause of MILLISECONDS (0) between.  Prints how many were sent.
"""

import socket
import struct
import sys
import time


def frames(path):
    """The frames of a capture."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        kept, whole = struct.unpack_from(order + "II", data, at + 8)
        if kept == whole and at + 16 + kept <= len(data):
            frame = bytearray(data[at + 16:at + 16 + kept])
            # no UDP checksum: that of a captured packet is often for a device to complete
            frame[40:42] = b"\0\0"
            yield frame
        at += 16 + kept


def main():
    """See above."""
    path, device = sys.argv[1:3]
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    pause = float(sys.argv[4]) / 1e3 if len(sys.argv) > 4 else 0
    sent = 0
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((device, 0))
        old = list(frames(path))
        for _ in range(times):
            for frame in old:
                try:
                    sock.send(frame)
                    sent += 1
                except OSError:
                    pass    # longer than the device takes, or its queue is full
            time.sleep(pause)
    print(sent)


if __name__ == "__main__":
    main()
