# SPDX-License-Identifier: GPL-2.0-or-later
"""The dissector against a decoder of its own, the module's counters and its parser.

usage: check.py DISSECTOR LIBWIRE FOLDER

FOLDER holds what capture.sh left there.  TAP.
"""
import os
import random
import shutil
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common"))

import wire  # noqa: E402
from tap import Tap, diag, equal, fail, true  # noqa: E402
from wire import ABORT, ACK, DATA, ECHO, GRANT, PORT, RESEND, SENT, UNUSED, build, overlay, packet  # noqa: E402

BAD = ["empty", "header", "length", "nonce", "payload", "reserved", "trailing", "type", "version"]
PLAIN = ["type", "flags", "src_rank", "src_port", "dst_port", "dst_rank", "op_id", "nonce", "unscheduled",
         "payload_len", "msg_len", "offset", "grant.granted", "grant.arrived", "resend.offset",
         "resend.len", "payload"]
RELATED = ["sender", "receiver", "first_in", "time", "granted_in", "asked_in", "acked_in",
           "grant.new", "grant.outstanding", "note.retransmission"]
SHAPE = ["records", "super_packet", "super_packet.size"]
MUTATIONS = 3000


def tshark(dissector, capture, fields=(), options=()):
    """{frame: {field: [values]}} of the frames that are dissected as AF_SHUFFLE."""
    cmd = ["tshark", "-n", "-X", "lua_script:" + dissector, "-r", capture, "-Y", "shuffle",
           "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,",
           "-e", "frame.number", "-e", "_ws.lua.error", *options]
    for field in fields:
        cmd += ["-e", "shuffle." + field]
    run = subprocess.run(cmd, capture_output=True, text=True, timeout=1200, check=False)
    said = [x for x in run.stderr.splitlines() if x and not x.startswith("Running as user")]
    if run.returncode or said:
        fail("tshark: got status %d, want 0 and silence: %s" % (run.returncode, "; ".join(said)))
    frames = {}
    for line in run.stdout.splitlines():
        values = line.split("|")
        if values[1]:
            fail("frame %s: an error in the dissector: got %s, want none" % (values[0], values[1]))
        frames[int(values[0])] = {f: v.split(",") if v else [] for f, v in zip(fields, values[2:])}
    return frames


def plain_fields(rec):
    """What the tree of one record says, in tshark's notation."""
    out = {"type": rec.type, "flags": "0x%02x" % rec.flags, "src_rank": rec.src_rank, "src_port": rec.src_port,
           "dst_port": rec.dst_port, "dst_rank": rec.dst_rank, "op_id": rec.op,
           "nonce": "0x%016x" % rec.nonce, "unscheduled": rec.unsched, "payload_len": rec.payload}
    names = {DATA: ("msg_len", "offset"), GRANT: ("grant.granted", "grant.arrived"),
             RESEND: ("resend.offset", "resend.len"), ACK: (), ABORT: ()}[rec.type]
    out.update(zip(names, (rec.a, rec.b)))
    if rec.data:
        out["payload"] = rec.data.hex()
    return out


def shape_fields(recs):
    """Of the whole datagram: is it a super-packet?"""
    out = {"records": [str(len(recs))], "super_packet": [], "super_packet.size": []}
    sizes = [r.payload for r in recs]
    if len(recs) > 1 and all(r.type == DATA for r in recs) and \
       set(sizes[:-1]) == {sizes[0]} and sizes[-1] <= sizes[0]:
        out["super_packet"] = out["records"]
        out["super_packet.size"] = [str(sizes[0] + 40)]
    return out


def lists(fields, dicts):
    """The values of every field in order of the records that have it."""
    return {f: [str(d[f]) for d in dicts if f in d] for f in fields}


def same(got, want, what):
    """The same frames with the same values?"""
    if not want:
        fail(what + ": got nothing to compare")
    if sorted(got) != sorted(want):
        fail("%s: frames %s are in one only" % (what, sorted(set(got) ^ set(want))[:10]))
    for frame, fields in want.items():
        for field, values in fields.items():
            if got[frame][field] != values:
                fail("%s: frame %d, %s: got %s, want %s" % (
                    what, frame, field, str(got[frame][field])[:200], str(values)[:200]))


def echo(src=0, dst=0, port=0, **more):
    """An ECHO: of no member."""
    return build(ECHO, src=src, dst=dst, port=port, src_port=0, **more)


class Checks:
    """One method a test; "folder" has the captures."""

    def __init__(self, dissector, library, folder):
        self.dissector, self.folder = dissector, folder
        self.module = wire.Module(library)
        self.captures = {d: list(wire.read_pcap(self.path(d + ".pcap"))) for d in ("eth0", "lo")}

    def path(self, name):
        """A file in the folder."""
        return os.path.join(self.folder, name)

    def run(self, datagrams, fields=(), options=(), snap=262144):
        """Dissects datagrams that are made up."""
        name = self.path("made-up.pcap")
        wire.write_pcap(name, datagrams, snap)
        return tshark(self.dissector, name, fields, options)

    def everything_is_there(self):
        """the capture has every type, probes, super-packets, both IP versions"""
        seen = Counter()
        for d in self.captures["eth0"]:
            recs = list(wire.records(d.payload))
            ip = "IPv6" if ":" in d.src else "IPv4"
            for r in recs:
                seen[ip, r.type] += 1
                seen["probe"] += r.flags & 1
            seen[ip, "super-packet"] += bool(shape_fields(recs)["super_packet"])
            seen[ip, "packet"] += len(recs) == 1 and recs[0].payload > 0
        for ip in ("IPv4", "IPv6"):
            for what in (DATA, GRANT, ACK, RESEND, "super-packet", "packet"):
                true(seen[ip, what], "%s, %s in the capture" % (ip, what))
        true(seen["probe"], "probes in the capture")
        diag(", ".join("%s %d" % (" ".join(map(str, k)) if isinstance(k, tuple) else k, n)
                       for k, n in sorted(seen.items(), key=str)))

    def compare(self, dissector, device):
        """The fields of the packets, frame by frame."""
        want = {}
        for d in self.captures[device]:
            recs = list(wire.records(d.payload))
            want[d.frame] = lists(PLAIN, [plain_fields(r) for r in recs])
            want[d.frame].update(shape_fields(recs))
            want[d.frame].update({"bad." + x: [] for x in BAD})
        fields = PLAIN + SHAPE + ["bad." + x for x in BAD]
        same(tshark(dissector, self.path(device + ".pcap"), fields), want, device)

    def fields_eth0(self):
        """every frame between hosts: fields as another decoder reads them"""
        self.compare(self.dissector, "eth0")

    def fields_lo(self):
        """every frame of the loopback device: fields as another decoder reads them"""
        self.compare(self.dissector, "lo")

    def another(self, name):
        """Where a changed dissector goes, beside its fields, and the text to be changed."""
        shutil.copy(os.path.join(os.path.dirname(self.dissector), "shuffle_fields.inc"), self.folder)
        with open(self.dissector, encoding="utf-8") as f:
            return self.path(name), f.read()

    def comparison_works(self):
        """a dissector that reads one field wrongly is noticed"""
        wrong, text = self.another("wrong.lua")
        if text.count("tree:add(f.dst_rank, tvb(off + 6, 2))") != 1:
            fail("this test does not fit the dissector any more")
        with open(wrong, "w", encoding="utf-8") as f:
            f.write(text.replace("tree:add(f.dst_rank, tvb(off + 6, 2))",
                                 "tree:add(f.dst_rank, tvb(off + 5, 2))"))
        try:
            self.compare(wrong, "eth0")
        except AssertionError as why:
            if "dst_rank" in str(why):
                return
            raise
        fail("nobody noticed")

    def errors_are_seen(self):
        """an error inside the dissector is noticed"""
        wrong, text = self.another("wrong.lua")
        with open(wrong, "w", encoding="utf-8") as f:
            f.write(text.replace("local function show_fields(tree, tvb, r)\n",
                                 "local function show_fields(tree, tvb, r)\n\tr = nil + 1\n"))
        try:
            tshark(wrong, self.path("eth0.pcap"))
        except AssertionError as why:
            if "error in the dissector" in str(why):
                return
            raise
        fail("nobody noticed")

    def relations(self):
        """records tied together: as another decoder finds it"""
        want = {}
        for frame, _, out, _ in wire.relations(self.captures["eth0"]):
            want.setdefault(frame, []).append(out)
        want = {frame: lists(RELATED, outs) for frame, outs in want.items()}
        for field in RELATED:
            if not any(x[field] for x in want.values()):
                fail("no record has " + field)
        same(tshark(self.dissector, self.path("eth0.pcap"), RELATED, ["-2"]), want, "two passes")

    def counters(self):
        """records counted with tshark are what the module has counted"""
        before, after = (self.read_counters(x) for x in ("before", "after"))
        seen = Counter()
        for device in ("eth0", "lo"):
            dissected = tshark(self.dissector, self.path(device + ".pcap"), PLAIN)
            for d in self.captures[device]:
                if device == "eth0" and d.src not in ("10.77.0.1", "fd77::1"):
                    continue
                got = dissected[d.frame]
                lengths = [int(x) for x in got["payload_len"]]
                flags = [int(x, 0) for x in got["flags"]]
                for kind, length, flag in zip(map(int, got["type"]), lengths, flags):
                    data = "DataOut" if length else "AnswerOut" if flag & SENT else "AnnounceOut"
                    seen[{DATA: data, GRANT: "GrantOut", ACK: "AckOut",
                          RESEND: "ResendOut"}[kind]] += 1
                seen["DataBytesOut"] += sum(lengths)
                if not any(lengths):
                    seen["CtrlPktsOut"] += 1
                    seen["CtrlBytesOut"] += d.length
        for name, n in sorted(seen.items()):
            if after[name] - before.get(name, 0) != n:
                fail("%s: got %d in the capture, want %d as the module says" % (
                    name, n, after[name] - before.get(name, 0)))
        diag(", ".join("%s %d" % x for x in sorted(seen.items())))

    def read_counters(self, name):
        """/proc/net/shuffle/netstat; empty if the host had none yet."""
        with open(self.path(name), encoding="ascii") as f:
            names, values = (line.split()[1:] for line in f.read().splitlines()[:2])
        return dict(zip(names, map(int, values)))

    def malformed(self):
        """malformed datagrams: expert information, and the records before them"""
        good = build(GRANT, a=1000, b=10)
        big = (1 << 48) - 1
        cases = [
            # bad.*, records shown before it, datagram
            ("version", 0, build(ACK, version=1)),
            ("version", 0, build(ACK, version=0)),
            ("version", 1, good + build(ACK, version=15)),
            ("type", 0, build(9, a=1, b=1)),
            ("type", 1, good + build(0)),
            ("type", 0, build(15)),
            (None, 1, build(DATA, flags=8, a=10, payload=b"x")),
            ("reserved", 0, build(DATA, flags=0x10, a=10, payload=b"x")),
            (None, 1, build(DATA, flags=0x10, a=10)),
            (None, 1, build(DATA, flags=0x40, a=10, b=11)),
            ("reserved", 0, build(DATA, flags=0x40, a=10)),
            ("reserved", 0, build(DATA, flags=0x60, a=10, b=1)),
            (None, 2, good + build(ABORT, a=1 << 32 | 1 << 16 | 3)),
            (None, 1, build(ABORT, flags=0x83, a=big, b=big)),
            ("reserved", 0, build(ABORT, flags=2, a=1 << 32 | 1 << 16)),
            ("reserved", 0, build(ABORT, flags=4, a=1 << 32 | 1 << 16)),
            ("reserved", 0, build(ABORT, a=1 << 32 | 1 << 16, b=1)),
            ("length", 0, build(ABORT, a=1 << 32)),
            ("length", 0, build(ABORT, a=1 << 16)),
            ("nonce", 0, build(ABORT, nonce=0, a=1 << 32 | 1 << 16)),
            ("reserved", 0, build(DATA, flags=0x20, a=10, payload=b"x")),
            ("reserved", 0, build(GRANT, flags=0x20, a=10)),
            (None, 1, build(DATA, flags=0x20, a=10, b=10)),
            (None, 1, build(RESEND, a=10)),
            ("reserved", 0, build(RESEND, flags=8, a=10)),
            ("reserved", 0, build(GRANT, flags=0x10, a=10)),
            ("reserved", 0, build(ACK, flags=0x48)),
            ("reserved", 0, build(GRANT, flags=1, a=10)),
            ("reserved", 0, build(GRANT, flags=2, a=10)),
            ("reserved", 0, build(ACK, flags=4)),
            ("reserved", 0, build(ACK, flags=1)),
            ("reserved", 0, build(RESEND, flags=0x7e, a=10)),
            ("reserved", 0, build(GRANT, unsched=1, a=10)),
            ("reserved", 0, build(ACK, payload_len=7)),
            ("reserved", 1, good + build(RESEND, payload_len=1, a=10)),
            ("nonce", 0, build(DATA, nonce=0, a=10)),
            ("nonce", 0, build(GRANT, nonce=0, a=10)),
            ("nonce", 1, good + build(ACK, nonce=0)),
            ("length", 0, build(DATA, a=10, b=11)),
            ("length", 0, build(DATA, a=10, b=big)),
            ("length", 0, build(DATA, a=10, b=8, payload=b"xyz")),
            ("length", 0, build(GRANT, a=10, b=11)),
            ("length", 1, good + build(RESEND, a=big, b=1)),
            ("payload", 0, build(DATA, a=5000, payload=b"x" * 10, payload_len=11)),
            ("payload", 1, good + build(DATA, a=70000, payload_len=65535)),
            ("header", 0, build(GRANT, a=10)[:39]),
            ("header", 0, build(DATA, a=10)[:28]),
            ("header", 1, good + build(RESEND, a=10)[:30]),
            ("trailing", 0, b"\x23"),
            ("trailing", 0, build(ACK)[:27]),
            ("trailing", 1, good + b"\0"),
            ("trailing", 2, good + build(ACK) + good[:27]),
            (None, 1, build(DATA, a=big, b=big - 3, payload=b"xyz", unsched=65535)),
            (None, 1, build(DATA, a=0, flags=1)),
            (None, 1, build(GRANT, a=big, b=0)),
            (None, 1, build(GRANT, a=big, b=big)),
            (None, 1, build(RESEND, nonce=0)),
            ("type", 0, build(UNUSED, a=10, b=1)),
            ("type", 1, good + build(UNUSED, a=10, b=1)),
            (None, 1, build(RESEND, a=big - 1, b=1)),
            (None, 1, build(DATA, a=10, flags=0x80, payload=b"x")),
            (None, 2, good + build(ACK, flags=0x80)),
            ("header", 0, build(ACK, flags=0x80)[:30]),
            (None, 3, good + build(ACK) + build(DATA, a=1, payload=b"x")),
            (None, 1, echo()),
            (None, 1, echo(flags=2, payload=b"x" * 20)),
            (None, 1, echo(flags=3, a=1 << 62, b=5)),
            (None, 2, good + echo(flags=1, payload=b"x")),
            ("reserved", 0, echo(src=1)),
            ("reserved", 0, echo(dst=1)),
            ("reserved", 0, echo(port=1)),
            ("reserved", 0, echo(unsched=1)),
            ("reserved", 0, echo(a=1)),
            ("reserved", 0, echo(b=1)),
            ("reserved", 0, echo(flags=4)),
            ("reserved", 0, echo(flags=0x80)),
            ("reserved", 0, echo(flags=3, payload=b"x")),
            ("nonce", 0, echo(nonce=0)),
            ("payload", 1, good + echo(payload=b"x", payload_len=2)),
            ("header", 0, echo()[:43]),
        ]
        fields = ["records", "ignored"] + ["bad." + x for x in BAD]
        got = self.run([(c[2], PORT) for c in cases], fields)
        for i, (bad, before, data) in enumerate(cases):
            name = "case %d (%s)" % (i, bad)
            if i + 1 not in got:
                fail(name + " is not dissected")
            frame = got[i + 1]
            marked = [x for x in BAD if frame["bad." + x]]
            equal(marked, [bad] if bad else [], name)
            equal(frame["records"], [str(before + bool(bad))], name + ": records")
            equal(self.module.walk(data), (before, not bad), name + ": the module's parser")
        diag("%d datagrams" % len(cases))

    def mutations(self):
        """changed packets: the same verdict as the module's own parser"""
        rng = random.Random(1)
        sources = [d.payload for d in self.captures["eth0"]]
        sources += [echo(), echo(flags=1, a=1, b=2, payload=b"x" * 9)] * (len(sources) // 20)
        made, refused = [], 0
        for _ in range(MUTATIONS):
            data = bytearray(rng.choice(sources))
            # most changes into headers, where they matter
            for _ in range(rng.choice((1, 1, 2, 5))):
                at = rng.randrange(min(len(data), rng.choice((28, 40, 48, 4096))))
                data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), 0, 255, rng.randrange(256)))
            if rng.random() < 0.2:
                del data[rng.randrange(1, len(data)):]
            # an overlay's is not for the module
            if data[:1] != overlay(b"")[:1]:
                made.append(bytes(data))
        got = self.run([(d, PORT) for d in made], ["records"] + ["bad." + x for x in BAD])
        for i, data in enumerate(made):
            if i + 1 not in got:
                fail("mutation %d is not dissected" % i)
            frame = got[i + 1]
            bad = [x for x in BAD if frame["bad." + x]]
            taken = int(frame["records"][0]) - bool(bad)
            if self.module.walk(data) != (taken, not bad):
                fail("mutation %d: got %d records, then %s, want %s as the module's parser: %s" % (
                    i, taken, bad, self.module.walk(data), data[:80].hex()))
            refused += bool(bad)
        if not 0 < refused < len(made):
            fail("malformed: got %d of %d, want some" % (refused, len(made)))
        diag("%d datagrams, %d malformed" % (len(made), refused))

    def overlays(self):
        """packets of an overlay: filter, and what is inside; the module takes none"""
        good = packet(build(DATA, a=3, payload=b"xyz") + build(ACK))
        cases = [
            # what is wrong, records of the packet inside
            (None, 2, overlay(good)),
            (None, 2, overlay(good, bits=1024, hashes=32)),
            (None, 2, overlay(good, bits=65)),
            (None, 1, overlay(packet(build(ACK), "fd00::1", "fd00::2"))),
            ("header", 0, overlay(good)[:16]),
            ("header", 0, overlay(good)[:7]),
            ("header", 0, overlay(build(ACK))),
            ("reserved", 0, overlay(good, flags=1)),
            ("reserved", 0, overlay(good, zero=1)),
            ("length", 0, overlay(good, bits=0)),
            ("length", 0, overlay(good, bits=1025)),
            ("length", 0, overlay(good, hashes=0)),
            ("length", 0, overlay(good, hashes=33)),
        ]
        fields = ["records", "overlay.bits", "overlay.filter", "op_id"] + ["bad." + x for x in BAD]
        got = self.run([(c[2], PORT) for c in cases], fields)
        for i, (bad, inside, data) in enumerate(cases):
            frame, name = got[i + 1], "case %d (%s)" % (i, bad)
            equal([x for x in BAD if frame["bad." + x]], [bad] if bad else [], name)
            equal(frame["records"], ["1"] + [str(inside)] * bool(inside), name + ": records")
            equal(len(frame["op_id"]), inside, name + ": operations inside")
            if not bad:
                bits = int.from_bytes(data[4:6], "big")
                equal(frame["overlay.bits"], [str(bits)], name + ": bits")
                equal(frame["overlay.filter"], ["12" * 8 * ((bits + 63) // 64)], name + ": filter")
            equal(self.module.walk(data), (0, False), name + ": the module's parser")

    def cut_off(self):
        """a capture with short snapshots: headers read, cut marked, no error"""
        sources = [(d.payload, PORT) for d in self.captures["eth0"]]
        for snap in (43, 60, 70, 96, 128, 1500):
            have = snap - 42
            got = self.run(sources, ["type", "msg_len", "cut"] + ["bad." + x for x in BAD], snap=snap)
            equal(len(got), len(sources), "frames that are dissected at %d" % snap)
            for i, (data, _) in enumerate(sources):
                frame = got[i + 1]
                recs = list(wire.records(data))
                what = "frame %d at %d: " % (i + 1, snap)
                equal([x for x in BAD if frame["bad." + x]], [], what + "malformed")
                equal(bool(frame["cut"]), have < len(data), what + "cut")
                types = [str(r.type) for r in recs if r.at + 28 <= have]
                lengths = [str(r.a) for r in recs if r.type == DATA and r.at + 40 <= have]
                equal(frame["type"], types, what + "types")
                equal(frame["msg_len"], lengths, what + "lengths")

    def echoes(self):
        """questions and answers of echoes: times, padding, how long the host took"""
        sent = [(echo(op=3, payload=b"\0" * 4), PORT),
                (echo(op=3, flags=1, a=1000, b=1234, payload=b"\0" * 4), PORT)]
        got = self.run(sent, ["type", "echo.seq", "echo.rx_time", "echo.tx_time", "echo.padding",
                              "echo.stay", "src_rank", "op_id"])
        want = [["5", "3", "0", "0", "00000000", None, None, None],
                ["5", "3", "1000", "1234", "00000000", "234", None, None]]
        for i, values in enumerate(want):
            frame = list(got[i + 1].values())
            equal(frame, [[v] if v else [] for v in values], "frame %d" % (i + 1))

    def slowest(self):
        """what the slowest receiver waits for: a number in the place of two others"""
        sent = [(build(GRANT, flags=0x08, unsched=0x1234, payload_len=0x5678, a=10), PORT),
                (build(ACK, flags=0x98, payload_len=3), PORT), (build(ACK), PORT)]
        fields = ["slowest", "flags.hearsay", "payload_len"] + ["bad." + x for x in BAD]
        none = {"bad." + x: [] for x in BAD}
        want = {1: {"slowest": [str(0x12345678)], "flags.hearsay": ["0"], "payload_len": [], **none},
                2: {"slowest": ["3"], "flags.hearsay": ["1"], "payload_len": [], **none},
                3: {"slowest": [], "flags.hearsay": ["0"], "payload_len": ["0"], **none}}
        same(self.run(sent, fields), want, "slowest")

    def ports(self):
        """the preference for the port, and valid records on other ports"""
        ours = build(GRANT, a=1000, b=10) + build(ACK)
        others = [build(GRANT, a=1000, b=10) + b"\0", build(ACK, nonce=0), b"\x23" * 28,
                  bytes(24), b"", b"\x23", bytes.fromhex("1234010000010000000000000377777707") + b"example",
                  bytes(range(16, 64)), build(ACK, version=1)]
        sent = [(ours, PORT), (ours, 7777), (ours, 7778)] + [(x, 7778) for x in others]
        off = ["-o", "shuffle.heuristic:FALSE"]
        for options, want in (([], {1, 2, 3}), (off, {1}),
                              (off + ["-o", "shuffle.ports:7777"], {2}),
                              (off + ["-o", "shuffle.ports:7777-7779,%d" % PORT],
                               set(range(1, len(sent) + 1)) - {8}),
                              (["-o", "shuffle.ports:7777"], {1, 2, 3})):
            got = set(self.run(sent, ["records"], options))
            # an empty datagram is shown by UDP itself
            equal(sorted(got - {8}), sorted(want - {8}), "%s: dissected" % " ".join(options))

    TESTS = [everything_is_there, fields_eth0, fields_lo, comparison_works, errors_are_seen,
             relations, counters, malformed, slowest, mutations, overlays, cut_off, echoes, ports]


def main():
    """Runs all tests."""
    tap, checks = Tap(), Checks(*sys.argv[1:])
    for test in Checks.TESTS:
        tap.run_test(test.__doc__, test, checks)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
