#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Does Documentation/networking/abi.rst say what uapi/ and the netlink specification have?

usage: check.py [DOCUMENT]

Tables are known by the heads of their columns:

    offset bytes field          of the structure that is named last in front of the table, as
                                "``struct NAME``, N bytes"
    value name                  constants; with "argument" or "structure", and "bytes": its size
    value command how           commands of netlink, as the specification has them
    set attributes, set values  numbers, names and types of attributes; of enumerations

The compiler compares numbers (static assertions).  What uapi/ has and the document does not is
an error, too, and so is a structure that would be another one on 32 bits.
"""
import errno
import os
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "selftests/vm"))

import rst  # noqa: E402

SPEC = "Documentation/netlink/specs/shuffle.yaml"
HEADERS = ("shuffle.h", "shuffle_diag.h")
# how many there are: they change
COUNTS = {"SHUFFLE_COLL_OPERS", "SHUFFLE_COLL_TYPES", "SHUFFLE_STEPS", "SHUFFLE_DIAG_STATES",
          "SHUFFLE_DIAG_MAX"}
INTERNAL = ("net/shuffle/sched/wire.h", "net/shuffle/netns.h")
bad = []


def read(path):
    """A file of the project."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def tables(lines):
    """Those of rst.py, and the structure that is named last in front of each."""
    for number, heads, rows in rst.tables(lines):
        named = re.findall(r"``struct (\w+)``, (\d+) bytes", "\n".join(lines[:number]))
        yield number, heads, rows, named[-1] if named else None


def code(path):
    """A header without comments."""
    return re.sub(r"/\*.*?\*/", "", read(path), flags=re.S)


def structures():
    """{name: {field: bytes of its type, 0 unless a number}} of uapi/."""
    sizes = {"__u8": 1, "__u16": 2, "__be16": 2, "__u32": 4, "__u64": 8, "__kernel_sa_family_t": 2}
    found = {}
    for h in HEADERS:
        for name, body in re.findall(r"struct (\w+) \{(.*?)\};", code("uapi/linux/" + h), re.S):
            fields = re.findall(r"(struct \w+|\w+)\s+(\w+)(?:\[\w*\])?;", body)
            found[name] = {field: sizes.get(kind, 0) for kind, field in fields}
    return found


def constants():
    """Names of uapi/ that have a number."""
    found = set()
    for h in HEADERS:
        text = code("uapi/linux/" + h)
        found.update(re.findall(r"^#define\s+([A-Z]\w+)[ \t]+\S", text, re.M))
        for body in re.findall(r"enum \w*\s*\{(.*?)\};", text, re.S):
            found.update(re.findall(r"^\s*([A-Z]\w+)", body, re.M))
    return {n for n in found if not n.startswith("__")} - COUNTS


def internal(name):
    """A number that hosts have to have in common, from the module's source."""
    for path in INTERNAL:
        got = re.search(rf"^#define\s+{name}\s+(\d+)", read(path), re.M)
        if got:
            return int(got[1])
    if name == "port":
        return int(re.search(r"\.port = (\d+),", read("net/shuffle/config.c"))[1])
    if name == "source ports":
        return 1 << internal("SHUFFLE_SOURCE_PORT_BITS")
    return None


def same(line, what, got, want):
    """Or an error; of lists what only one of them has, if it is not the order."""
    if got == want:
        return
    if isinstance(got, list) and isinstance(want, list) and sorted(got) != sorted(want):
        got, want = [x for x in got if x not in want], [x for x in want if x not in got]
    bad.append(f"line {line}: {what}: the document has {got}, want {want}")


class Page:
    """What the document says, as assertions for the compiler and otherwise."""

    def __init__(self, spec):
        self.spec = spec
        self.asserts = []
        self.fields = {}
        self.names = set()
        self.commands = []
        self.sets = {}

    def hold(self, line, condition):
        """For the compiler, whose message begins with the line."""
        self.asserts.append(f'_Static_assert({condition}, "line {line}: {condition}");')

    def struct(self, line, rows, struct):
        """Every field, where it is and how long."""
        name, size = struct
        self.hold(line, f"sizeof(struct {name}) == {size}")
        self.fields[name] = [field for _, _, field, *_ in rows]
        for at, length, field, *_ in rows:
            self.hold(line, f"offsetof(struct {name}, {field}) == {at}")
            if length != "0":
                self.hold(line, f"sizeof(((struct {name} *)0)->{field}) == {length}")

    def values(self, line, heads, rows):
        """Constants, and the size of what belongs to them."""
        for row in rows:
            cell = dict(zip(heads, row))
            name = cell["name"]
            self.names.add(name)
            if internal(name) is not None:
                same(line, name, int(cell["value"], 0), internal(name))
                continue
            self.hold(line, f"{name} == {cell['value'].replace('~0', '~0ULL')}")
            kind = cell.get("argument") or cell.get("structure")
            if kind == "bytes":
                self.hold(line, f"SHUFFLE_KEY_BYTES == {cell['bytes']}")
            elif kind:
                self.hold(line, f"sizeof({kind}) == {cell['bytes']}")

    def command(self, line, rows):
        """Number, kind, permission and multicast group."""
        ops = {o["name"]: o for o in self.spec["operations"]["list"]}
        for value, name, how, rest in rows:
            self.commands.append(name)
            op = ops.get(name)
            if not op:
                bad.append(f"line {line}: no command {name}")
                continue
            self.hold(line, f"SHUFFLE_CMD_{name.upper().replace('-', '_')} == {value}")
            event = "notify" in op or "event" in op
            want = [w for w, has in (("do", "do" in op), ("dump", "dump" in op), ("event", event),
                                     ("admin", "uns-admin-perm" in op.get("flags", []))) if has]
            same(line, name, how.split(), want)
            if event:
                same(line, name, rest, op["mcgrp"])

    def set_of(self, line, rows):
        """What the specification numbers."""
        want = {}
        for s in self.spec["attribute-sets"]:
            want[s["name"]] = [f"{i} {a['name']} {a['type']}"
                               for i, a in enumerate(s["attributes"], 1)]
        for d in self.spec["definitions"]:
            entries = [e if isinstance(e, str) else e["name"] for e in d["entries"]]
            want[d["name"]] = [f"{i} {e}" for i, e in enumerate(entries)]
        for name, text in rows:
            self.sets[name] = text
            same(line, name, re.split(r",\s+", text), want.get(name))
        return want


def errnos(text):
    """Their names in a part of a document."""
    return set(re.findall(r"``(E[A-Z0-9]+)``", text))


def section(text, title):
    """From a title to the next one."""
    at = text.index(f"\n{title}\n")
    end = re.compile(r"\n[^\n]+\n(=+|-+)\n\n").search(text, at + 2 * len(title) + 4)
    return text[at:end.start() if end else None]


def compile_all(asserts):
    """What does not hold."""
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("#include <stddef.h>\n#include <sys/socket.h>\n")
        f.writelines(f"#include <linux/{h}>\n" for h in (*HEADERS, "shuffle_netlink.h"))
        f.write("\n".join(asserts) + "\n")
        f.flush()
        said = subprocess.run(["gcc", "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", "-I",
                               os.path.join(ROOT, "uapi"), f.name], capture_output=True, text=True,
                              check=False)
    for line in said.stderr.splitlines():
        if " error: " in line:
            bad.append(line.split(" error: ", 1)[1])


def main():
    """Nothing, or what is wrong."""
    text = read(sys.argv[1] if len(sys.argv) > 1 else "Documentation/networking/abi.rst")
    page = Page(yaml.safe_load(read(SPEC)))
    wanted_sets = page.set_of(0, [])
    for line, heads, rows, struct in tables(text.splitlines()):
        if heads[:3] == ["offset", "bytes", "field"]:
            page.struct(line, rows, struct)
        elif heads[:2] == ["value", "name"]:
            page.values(line, heads, rows)
        elif heads[:2] == ["value", "command"]:
            page.command(line, rows)
        elif heads[0] == "set":
            page.set_of(line, rows)

    for name, fields in structures().items():
        same("-", f"fields of struct {name}", page.fields.get(name), list(fields))
        for field, at in re.findall(rf"offsetof\(struct {name}, (\w+)\) == (\d+)\"",
                                    "".join(page.asserts)):
            if fields.get(field) and int(at) % fields[field]:
                bad.append(f"struct {name}: {field} is not at a multiple of its size")
        if 8 in fields.values():
            page.hold("-", f"sizeof(struct {name}) % 8 == 0")
    compile_all(page.asserts)
    missing = constants() - page.names
    if missing:
        bad.append("not in the document: " + " ".join(sorted(missing)))
    same("-", "commands", page.commands, [o["name"] for o in page.spec["operations"]["list"]])
    same("-", "attributes and enumerations", sorted(page.sets), sorted(wanted_sets))
    of_calls = errnos(section(text, "Errors by call"))
    same("-", "errnos", sorted(e for e in errnos(text) if not hasattr(errno, e)), [])
    same("-", "errnos by call and those of api.rst", sorted(of_calls),
         sorted(errnos(section(read("Documentation/networking/api.rst"), "Errors"))))
    for line in bad:
        print(line)
    print(f"{len(page.asserts)} assertions, {len(page.names)} names, "
          f"{len(page.fields)} structures, {len(page.sets)} sets of attributes or values")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
