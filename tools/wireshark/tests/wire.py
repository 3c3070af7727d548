# SPDX-License-Identifier: GPL-2.0-or-later
"""AF_SHUFFLE's packets, read and written without the dissector's help.

Captures in pcap's format, records after Documentation/networking/protocol.rst,
and what ties the records of a capture together.
"""
import ctypes
import ipaddress
import struct
from collections import namedtuple

PORT = 818
DATA, GRANT, ACK, RESEND, ECHO, UNUSED, OVERLAY, ABORT = range(1, 9)
VERSION = 3
BASE = struct.Struct(">BBHHHQHHIHH")
OFFSETS = struct.Struct(">HIHI")
TIMES = struct.Struct(">QQ")
BLAME = struct.Struct(">HH4H")
TAG = struct.Struct(">Q")
SENT = 0x20
DIGEST = 0x40
TAGGED = 0x80

Datagram = namedtuple("Datagram", "frame time src dst sport dport payload length")
Record = namedtuple("Record", "type flags src_rank src_port dst_port dst_rank op nonce unsched payload a b data at")


def build(kind, op=7, src=1, dst=2, port=7000, nonce=0x1234abcd5678, flags=0, unsched=0,
          payload=b"", a=0, b=0, version=VERSION, src_port=7001,
          payload_len=None, tag=0x55):
    """One record; everything can be set wrong."""
    head = BASE.pack(version << 4 | kind, flags, src, port, dst, op, src_port, nonce >> 32, nonce & 0xffffffff, unsched,
                     len(payload) if payload_len is None else payload_len)
    if kind == ECHO:
        return head + TIMES.pack(a, b) + payload
    places = b"" if kind == ACK else OFFSETS.pack(a >> 32 & 0xffff, a & 0xffffffff, b >> 32 & 0xffff, b & 0xffffffff)
    return head + places + (TAG.pack(tag) if flags & TAGGED else b"") + payload


def overlay(inside, bits=64, hashes=5, salt=3, flags=0, zero=0, words=b"\x12"):
    """A packet of an overlay; everything can be set wrong."""
    head = struct.pack(">BBBBHH", VERSION << 4 | OVERLAY, flags, hashes, salt, bits, zero)
    return head + words * 8 * ((bits + 63) // 64) + inside


def packet(payload, source="10.0.0.1", target="10.0.0.2", port=PORT):
    """IP and UDP in front of a datagram."""
    ends = [ipaddress.ip_address(a).packed for a in (source, target)]
    udp = struct.pack(">HHHH", 900, port, 8 + len(payload), 0) + payload
    if len(ends[0]) == 16:
        return struct.pack(">IHBB", 6 << 28, len(udp), 17, 64) + ends[0] + ends[1] + udp
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + ends[0] + ends[1] + udp


def records(data):
    """The records of a genuine datagram; anything odd is an exception."""
    at = 0
    while at < len(data):
        head, flags, src, port, dst, op, src_port, high, low, unsched, length = BASE.unpack_from(data, at)
        nonce = high << 32 | low
        if head >> 4 != VERSION:
            raise ValueError("version %d" % (head >> 4))
        kind, start, at, a, b = head & 15, at, at + BASE.size, None, None
        if kind == ABORT:
            a, b = 0, 0
            at += BLAME.size
        elif kind in (DATA, GRANT, RESEND):
            high_a, low_a, high_b, low_b = OFFSETS.unpack_from(data, at)
            a, b = high_a << 32 | low_a, high_b << 32 | low_b
            at += OFFSETS.size
            if kind == DATA and flags & DIGEST:
                b = 0
        elif kind != ACK:
            raise ValueError("type %d" % kind)
        at += TAG.size if flags & TAGGED else 0
        if at + length > len(data):
            raise ValueError("payload beyond the datagram")
        yield Record(kind, flags, src, src_port, port, dst, op, nonce, unsched, length, a, b,
                     data[at:at + length], start)
        at += length


def read_pcap(name):
    """The UDP datagrams of a capture of Ethernet frames."""
    with open(name, "rb") as f:
        raw = f.read()
    order = "<" if raw[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    if struct.unpack_from(order + "I", raw)[0] != 0xa1b2c3d4:
        raise ValueError(name + ": not a capture with microseconds")
    if struct.unpack_from(order + "I", raw, 20)[0] != 1:
        raise ValueError(name + ": not Ethernet")
    at, frame = 24, 0
    while at + 16 <= len(raw):
        sec, usec, have, _ = struct.unpack_from(order + "IIII", raw, at)
        packet = raw[at + 16:at + 16 + have]
        at, frame = at + 16 + have, frame + 1
        found = udp_of(packet)
        if found:
            yield Datagram(frame, sec * 1000000 + usec, *found)


def udp_of(packet):
    """(source, destination, ports, UDP payload, its length on the wire) or None."""
    kind = struct.unpack_from(">H", packet, 12)[0]
    if kind == 0x0800 and packet[23] == 17:
        src, dst = packet[26:30], packet[30:34]
        at = 14 + 4 * (packet[14] & 15)
    elif kind == 0x86dd and packet[20] == 17:
        src, dst, at = packet[22:38], packet[38:54], 54
    else:
        return None
    sport, dport, length = struct.unpack_from(">HHH", packet, at)
    return (str(ipaddress.ip_address(src)), str(ipaddress.ip_address(dst)), sport, dport,
            packet[at + 8:at + length], length - 8)


def write_pcap(name, datagrams, snap=262144):
    """Writes (UDP payload, destination port) as IPv4 in Ethernet."""
    with open(name, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, snap, 1))
        for i, (payload, port) in enumerate(datagrams):
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 1, 0x4000, 64, 17, 0,
                             bytes((10, 77, 0, 1)), bytes((10, 77, 0, 2)))
            udp = struct.pack(">HHHH", 50000, port, 8 + len(payload), 0)
            packet = bytes(12) + b"\x08\x00" + ip + udp + payload
            f.write(struct.pack("<IIII", 1700000000, i, min(len(packet), snap), len(packet)))
            f.write(packet[:snap])


class Message:
    """What has been captured of one message."""

    def __init__(self, datagram):
        self.frame, self.time = datagram.frame, datagram.time
        self.have, self.grants, self.resends = bytearray(), [], []
        self.unsched = self.acked = None


def data_relations(msg, rec, frame):
    """Retransmitted?  Which GRANT allowed it, which RESEND asked for it?"""
    span = range(rec.b, rec.b + rec.payload)
    out = {}
    if not rec.payload:
        return out
    # one byte for each of the message: seen or not
    msg.have.extend(bytes(max(0, span.stop - len(msg.have))))
    if all(msg.have[span.start:span.stop]):
        out["note.retransmission"] = 1
    msg.have[span.start:span.stop] = b"\1" * len(span)
    if msg.unsched is None:
        msg.unsched = 64 * rec.unsched
    if span.stop > msg.unsched:
        for when, upto in msg.grants:
            if upto >= span.stop:
                out["granted_in"] = when
                break
    for when, first, last in reversed(msg.resends):
        if first < span.stop and span.start < last:
            out["asked_in"] = when
            break
    return out


def relations(datagrams):
    """For every record, in order: {field: value} of what ties it to others."""
    messages, found = {}, []
    for d in datagrams:
        for rec in records(d.payload):
            ends = (rec.src_rank, d.src, rec.dst_rank, d.dst)
            if rec.type != DATA:
                ends = ends[2:] + ends[:2]
            out = {"sender": ends[0], "receiver": ends[2]}
            found.append((d.frame, rec, out, None))
            if not rec.nonce:
                continue
            msg = messages.setdefault((rec.nonce, rec.op) + ends, Message(d))
            found[-1] = (d.frame, rec, out, msg)
            if msg.frame != d.frame:
                out["first_in"] = msg.frame
                out["time"] = "%d.%06d000" % divmod(d.time - msg.time, 1000000)
            if rec.type == DATA:
                out.update(data_relations(msg, rec, d.frame))
            elif rec.type == GRANT:
                before = max([msg.unsched or 0] + [upto for _, upto in msg.grants])
                msg.grants.append((d.frame, rec.a))
                out["grant.new"] = max(0, rec.a - before)
                out["grant.outstanding"] = rec.a - rec.b
            elif rec.type == RESEND:
                msg.resends.append((d.frame, rec.a, rec.a + rec.b))
            else:
                msg.acked = msg.acked or d.frame
    for _, rec, out, msg in found:
        if msg and rec.type == DATA and msg.acked:
            out["acked_in"] = msg.acked
    return found


class Wire(ctypes.Structure):
    """struct shuffle_wire of net/shuffle/sched/wire.h."""
    _fields_ = [("type", ctypes.c_uint8), ("flags", ctypes.c_uint8), ("src_rank", ctypes.c_uint16),
                ("dst_rank", ctypes.c_uint16), ("dst_port", ctypes.c_uint16),
                ("src_port", ctypes.c_uint16), ("payload", ctypes.c_uint16), ("op_id", ctypes.c_uint64),
                ("nonce", ctypes.c_uint64), ("digest", ctypes.c_uint64), ("tag", ctypes.c_uint64),
                ("slowest", ctypes.c_uint64), ("unsched", ctypes.c_uint32),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Module:
    """The module's own parser, built as a shared library."""

    def __init__(self, library):
        wire = ctypes.CDLL(library)
        # A structure that is too short here would let the parser write behind it.
        size = ctypes.c_size_t.in_dll(wire, "wire_size").value
        if size != ctypes.sizeof(Wire):
            raise SystemExit(f"struct shuffle_wire has {size} bytes, class Wire {ctypes.sizeof(Wire)}")
        self.parse = wire.shuffle_wire_parse
        self.parse.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.POINTER(Wire)]
        self.parse.restype = ctypes.c_int

    def walk(self, data):
        """(records that a receiver takes from a datagram, is all of it good?)"""
        taken, at, w = 0, 0, Wire()
        while at < len(data):
            left = len(data) - at
            head = self.parse(data[at:at + 48], min(left, 48), left, ctypes.byref(w))
            if head < 0:
                return taken, False
            taken, at = taken + 1, at + head + w.payload
        return taken, taken > 0
