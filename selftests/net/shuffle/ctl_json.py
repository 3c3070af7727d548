#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold JSON of shufflectl against the netlink specification.

usage: ctl_json.py SPEC FILE...

A file's name says what is in it: "op-get" an array of replies to that operation,
"events" one event a line.  Prints what does not agree; the status says whether.
"""
import ipaddress
import json
import os
import sys

import yaml

# of the tool's own: not attributes
EXTRA = {"dev": str}
EVENT_EXTRA = {"time": str, "event": str, "resync": bool, "reason": str}
WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}


class Spec:
    """The attributes of every operation's reply, by JSON key."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.doc = yaml.safe_load(f)
        self.enums = {d["name"]: d for d in self.doc["definitions"]}
        self.sets = {s["name"]: {a["name"]: a for a in s["attributes"]}
                     for s in self.doc["attribute-sets"]}
        self.ops = {o["name"]: o for o in self.doc["operations"]["list"]}

    def reply(self, name):
        """key -> attribute that an operation may answer with."""
        op = self.ops[name]
        if "notify" in op:
            op = self.ops[op["notify"]]
        where = op["event"] if "event" in op else op["do"]["reply"]
        attrs = self.sets[op["attribute-set"]]
        return {n.replace("-", "_"): attrs[n] for n in where["attributes"]}


def entries(enum):
    """Names of an enumeration's values."""
    return [e if isinstance(e, str) else e["name"] for e in enum["entries"]]


def check_value(spec, attr, value):
    """None, or what is wrong with a value."""
    if attr.get("multi-attr") and isinstance(value, list):
        return next((w for w in (check_value(spec, dict(attr, **{"multi-attr": False}), v)
                                 for v in value) if w), None)
    if "enum" in attr:
        enum = spec.enums[attr["enum"]]
        if enum["type"] == "flags":
            good = isinstance(value, list) and all(v in entries(enum) for v in value)
        else:
            good = value in entries(enum)
        return None if good else f"{value!r} is none of {entries(enum)}"
    kind = attr["type"]
    if kind in WIDTH:
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{value!r} is no number"
        return None if 0 <= value < 1 << WIDTH[kind] else f"{value} does not fit {kind}"
    if kind == "string":
        return None if isinstance(value, str) else f"{value!r} is no string"
    if attr.get("display-hint") in ("ipv4", "ipv6"):
        version = ipaddress.ip_address(value).version
        return None if f"ipv{version}" == attr["display-hint"] else f"{value} is IPv{version}"
    if kind == "nest" and isinstance(value, dict):
        attrs = {n.replace("-", "_"): a for n, a in spec.sets[attr["nested-attributes"]].items()}
        return next((w for w in (check_value(spec, attrs[k], v) if k in attrs else
                                 f"{k} is not in {attr['nested-attributes']}"
                                 for k, v in value.items()) if w), None)
    return f"a {kind}, which nobody expects"


def check_object(spec, name, obj, extra):
    """What is wrong with an object."""
    attrs = spec.reply(name)
    for key, value in obj.items():
        if key in extra:
            if not isinstance(value, extra[key]):
                yield f"{name}: {key}: {value!r}"
        elif key not in attrs:
            yield f"{name}: {key} is not in the specification"
        else:
            wrong = check_value(spec, attrs[key], value)
            if wrong:
                yield f"{name}: {key}: {wrong}"


def check_events(spec, lines):
    """What is wrong with events."""
    seen = set()
    for line in lines:
        obj = json.loads(line)
        name = obj["event"]
        seen.add(name)
        if name in ("lost", "resynced"):
            continue
        op = name + ("-get" if obj.get("resync") else "-ntf")
        if op not in spec.ops:
            yield f"event {name} is not in the specification"
            continue
        yield from check_object(spec, op, obj, EXTRA | EVENT_EXTRA)
    print(f"events: {', '.join(sorted(seen))}")


def main():
    """Check all files."""
    spec = Spec(sys.argv[1])
    bad = 0
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as f:
            if name == "events":
                wrong = list(check_events(spec, f))
            else:
                objs = json.load(f)
                wrong = [w for o in objs for w in check_object(spec, name, o, EXTRA)]
                if not objs:
                    wrong.append(f"{name}: nothing to check")
                print(f"{name}: {len(objs)} objects, {len(objs[0]) if objs else 0} keys in the first")
        for w in wrong[:20]:
            print(w)
        bad += len(wrong)
    sys.exit(bad > 0)


main()
