#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tables for programs that print what the netlink family says: names, units,
# ranges, enumerations and doc strings of every attribute, from the specification.
#
# usage: attrs.py SPEC header|source

import re
import sys

import yaml

KINDS = {"u8": "U8", "u16": "U16", "u32": "U32", "u64": "U64", "string": "STRING",
         "binary": "BINARY", "flag": "FLAG", "pad": "PAD", "nest": "NEST"}
WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
HINTS = {"ipv4": "IPV4", "ipv6": "IPV6"}


def c_name(*words):
    return "_".join(words).replace("-", "_").upper()


def ident(*words):
    return "_".join(words).replace("-", "_").lower()


def string(text):
    if text is None:
        return "NULL"
    return '"%s"' % " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')


def unit(doc):
    found = re.search(r"\[([^\]]+)\]", doc or "")
    return found.group(1) if found else None


def head(spec, kind):
    what = "header" if kind == "header" else "source"
    start = "/*" if kind == "header" else "//"
    end = " */" if kind == "header" else ""
    print("%s SPDX-License-Identifier: GPL-2.0-or-later%s" % (start, end))
    print("/* Do not edit: made by tools/netlink/attrs.py (%s) from" % what)
    print(" * Documentation/netlink/specs/%s.yaml" % spec["name"])
    print(" */")


HEADER = """\
#ifndef _SHUFFLE_ATTRS_H
#define _SHUFFLE_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

enum shuffle_attr_kind {
	SHUFFLE_ATTR_NONE,	/* no attribute has this number */
	SHUFFLE_ATTR_NEST,
	SHUFFLE_ATTR_U8,
	SHUFFLE_ATTR_U16,
	SHUFFLE_ATTR_U32,
	SHUFFLE_ATTR_U64,
	SHUFFLE_ATTR_STRING,
	SHUFFLE_ATTR_BINARY,
	SHUFFLE_ATTR_IPV4,	/* 4 bytes */
	SHUFFLE_ATTR_IPV6,	/* 16 bytes */
	SHUFFLE_ATTR_FLAG,
	SHUFFLE_ATTR_PAD,	/* to be skipped */
};

/* names of values, or of bits if is_flags */
struct shuffle_attr_enum {
	const char		*name;
	bool			is_flags;
	unsigned int		n;
	const char *const	*names;
	const char *const	*docs;	/* entries may be NULL */
};

struct shuffle_attr_set;

struct shuffle_attr {
	const char			*name;	/* as in the specification: link-rate */
	const char			*key;	/* for JSON: link_rate */
	enum shuffle_attr_kind		kind;
	bool				multi;	/* may come several times */
	const char			*unit;	/* or NULL */
	const struct shuffle_attr_enum	*names;	/* or NULL */
	const struct shuffle_attr_set	*nest;	/* what is in it, or NULL */
	uint64_t			min;	/* of numbers; strings: length */
	uint64_t			max;
	const char			*doc;
};

struct shuffle_attr_set {
	const char			*name;
	unsigned int			n;	/* attr[0..n-1], by attribute number */
	const struct shuffle_attr	*attr;
};

struct shuffle_attr_op {
	const char			*name;
	unsigned int			cmd;
	const struct shuffle_attr_set	*set;
	const char			*group;	/* of a notification, otherwise NULL */
	bool				has_dump;
	unsigned int			n_request;
	const unsigned int		*request;	/* attributes it takes */
	unsigned int			n_reply;
	const unsigned int		*reply;	/* attributes it gives, in order */
	const char			*doc;
};

extern const struct shuffle_attr_op shuffle_attr_ops[];
extern const unsigned int shuffle_attr_n_ops;
"""


def header(spec):
    head(spec, "header")
    print(HEADER)
    for one in spec["attribute-sets"]:
        print("extern const struct shuffle_attr_set shuffle_attr_set_%s;" % ident(one["name"]))
    print()
    for one in spec["definitions"]:
        print("extern const struct shuffle_attr_enum shuffle_attr_enum_%s;" % ident(one["name"]))
    print("\n#endif /* _SHUFFLE_ATTRS_H */")


def enum_table(one):
    name = ident(one["name"])
    entries = [{"name": e} if isinstance(e, str) else e for e in one["entries"]]
    for field in ("name", "doc"):
        print("\nstatic const char *const enum_%s_%ss[] = {" % (name, field))
        for e in entries:
            print("\t%s," % string(e.get(field)))
        print("};")
    print("\nconst struct shuffle_attr_enum shuffle_attr_enum_%s = {" % name)
    print("\t%s, %s, %d, enum_%s_names, enum_%s_docs" %
          (string(one["name"]), "true" if one["type"] == "flags" else "false",
           len(entries), name, name))
    print("};")


def bounds(attr, enums):
    checks = attr.get("checks", {})
    if attr["type"] == "string":
        return 0, checks.get("max-len", 0)
    if attr["type"] == "binary":
        return checks.get("exact-len", 0), checks.get("exact-len", 0)
    if "enum" in attr:
        one = enums[attr["enum"]]
        n = len(one["entries"])
        return 0, (1 << n) - 1 if one["type"] == "flags" else n - 1
    return checks.get("min", 0), checks.get("max", (1 << WIDTH.get(attr["type"], 0)) - 1)


def set_table(one, enums):
    name = ident(one["name"])
    print("\nstatic const struct shuffle_attr set_%s[] = {" % name)
    for attr in one["attributes"]:
        low, high = bounds(attr, enums)
        kind = HINTS.get(attr.get("display-hint"), KINDS[attr["type"]])
        print("\t[%s] = {" % c_name("shuffle-a", one["name"], attr["name"]))
        print("\t\t%s, %s, SHUFFLE_ATTR_%s, %s, %s," %
              (string(attr["name"]), string(ident(attr["name"])), kind,
               "true" if attr.get("multi-attr") else "false", string(unit(attr.get("doc")))))
        print("\t\t%s, %s," %
              ("&shuffle_attr_enum_" + ident(attr["enum"]) if "enum" in attr else "NULL",
               "&shuffle_attr_set_" + ident(attr["nested-attributes"])
               if attr["type"] == "nest" else "NULL"))
        print("\t\t%dULL, %dULL," % (low, high))
        print("\t\t%s" % string(attr.get("doc", "")))
        print("\t},")
    print("};")
    print("\nconst struct shuffle_attr_set shuffle_attr_set_%s = {" % name)
    print("\t%s, sizeof(set_%s) / sizeof(set_%s[0]), set_%s" %
          (string(one["name"]), name, name, name))
    print("};")


def op_lists(op, spec):
    """Set, request and reply attributes of an operation or notification."""
    if "notify" in op:
        other = next(o for o in spec["operations"]["list"] if o["name"] == op["notify"])
        return other["attribute-set"], [], other["do"]["reply"]["attributes"]
    if "event" in op:
        return op["attribute-set"], [], op["event"]["attributes"]
    return (op["attribute-set"], op["do"]["request"]["attributes"],
            op["do"].get("reply", {}).get("attributes", []))


def op_tables(spec):
    rows = []
    for op in spec["operations"]["list"]:
        space, request, reply = op_lists(op, spec)
        name = ident(op["name"])
        row = "\t{\n\t\t%s, %s, &shuffle_attr_set_%s,\n\t\t%s, %s,\n" % (
            string(op["name"]), c_name("shuffle-cmd", op["name"]), ident(space),
            string(op.get("mcgrp")), "true" if "dump" in op else "false")
        for what, attrs in (("request", request), ("reply", reply)):
            if attrs:
                print("\nstatic const unsigned int %s_%s[] = {" % (name, what))
                for a in attrs:
                    print("\t%s," % c_name("shuffle-a", space, a))
                print("};")
            row += "\t\t%d, %s,\n" % (len(attrs), "%s_%s" % (name, what) if attrs else "NULL")
        rows.append(row + "\t\t%s\n\t},\n" % string(op["doc"]))
    print("\nconst struct shuffle_attr_op shuffle_attr_ops[] = {\n%s};" % "".join(rows))
    print("\nconst unsigned int shuffle_attr_n_ops =")
    print("\tsizeof(shuffle_attr_ops) / sizeof(shuffle_attr_ops[0]);")


def source(spec):
    head(spec, "source")
    print("#include <stddef.h>\n\n#include <linux/shuffle_netlink.h>\n")
    print('#include "shuffle_attrs.h"')
    enums = {one["name"]: one for one in spec["definitions"]}
    for one in spec["definitions"]:
        enum_table(one)
    for one in spec["attribute-sets"]:
        set_table(one, enums)
    op_tables(spec)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("header", "source"):
        sys.exit("usage: attrs.py SPEC header|source")
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    {"header": header, "source": source}[sys.argv[2]](spec)


main()
