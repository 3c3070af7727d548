# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad arguments and files: status 2, one clear line, nothing planned."""

from tap import equal, has

B = "--bcube 4,1 "
S = B + "--senders 1,2 --receivers 0 "

BAD = [
    ("", "a topology is needed"),
    ("--bcube 4", "N,K is expected"),
    ("--bcube 1,1", "N is 2 to 256"),
    ("--bcube 4,16", "N is 2 to 256"),
    ("--bcube 256,4", "at most 32 bits"),
    ("--bcube 4,-1", "N,K is expected"),
    ("--racks 4", "RACKSxHOSTS"),
    ("--racks 0x4", "1 to 16384 racks"),
    ("--racks 300x300", "65536 hosts"),
    ("--bcube 4,1 --racks 2x2", "a topology already"),
    ("--graph /nowhere", "/nowhere"),
    (B, "--senders and --receivers are needed"),
    (B + "--senders 16 --receivers 0", "--senders 16: there is no such server"),
    (B + "--senders 1-16 --receivers 0", "there is no such server"),
    (B + "--senders 3-1 --receivers 0", "there is no such server"),
    (B + "--senders 1.4 --receivers 0", "there is no such server"),
    (B + "--senders 1,1 --receivers 0", "sender 1 is there twice"),
    (B + "--senders 1 --receivers 0,0", "receiver 0 is there twice"),
    (B + "--senders 1 --receivers 1", "only sender to itself"),
    (B + "--senders , --receivers 1", "none"),
    (B + "--senders @/nowhere --receivers 1", "/nowhere"),
    (B + "--random 4", "MxQ is expected"),
    (B + "--random 0x4", "1 to 16384"),
    (B + "--random 14x4", "there are 16 servers"),
    (B + "--random 4x4 --senders 1", "--random does not go with"),
    ("--without 1", "--without goes with a topology"),
    (S + "--without 16", "there is no such server or switch"),
    (S + "--without 3/2", "there is no such link"),
    (S + "--without 3/1:0", "there is no such link"),
    (S + "--without 3/", "there is no such link"),
    (S + "--without 3/0,3/0", "there is no such link"),
    (S + "--without 1", "no links lead from server 1 to server 0"),
    (B + "--random 4x4 --without 1", "--without does not go with --random"),
    ("--bcube 8,5 --senders 1 --receivers 2 --without 3", "too large"),
    (S + "--without 3 --method irs", "needs labels"),
    (S + "--runs 3", "--runs goes with --random"),
    (S + "--runs 0", "--runs 0"),
    (S + "--seed x", "--seed x"),
    (S + "--flow 0", "--flow 0"),
    (S + "--delta 1.1", "numbers from 0 to 1"),
    (S + "--delta 0,,1", "numbers from 0 to 1"),
    (S + "--method best", "there are none unicast kmb irs srs exact"),
    (S + "--irs late", "there are post pre inter auto"),
    (S + "--refine --method kmb", "--refine goes with"),
    (S + "--objective time", "there are cost links"),
    (S + "--paths long", "there are random rotate"),
    (S + "--merge some", "there are all children"),
    (S + "--merge children --table -", "--merge children is for costs"),
    (S + "--entry 0", "--entry goes with --method srs"),
    (S + "--method srs --entry 99", "--entry 99: there is no such server"),
    (S + "--bloom 0", "--bloom 0"),
    (S + "--bloom 1025", "--bloom 1025"),
    (S + "--bloom-form paper", "goes with --bloom"),
    (S + "--bloom 64 --bloom-form paper", "--method unicast"),
    ("--racks 2x2 --random 2x1 --bloom 64", "--bloom is for a BCube"),
    ("--racks 2x2 --random 2x1 --method irs", "needs labels"),
    ("--bcube 4,3 --random 13x1 --method exact", "at most 12 senders"),
    ("--bcube 8,5 --random 3x1 --method exact", "at most 4096 servers"),
    (S + "--method irs,kmb --table -", "--table is for one method"),
    (S + "--method none --svg -", "--svg is for one method"),
    (S + "--svg-tree 0", "--svg-tree goes with --svg"),
    (S + "--svg - --svg-tree 3", "it is not a receiver"),
    ("--bcube 8,5 --random 900x1 --svg -", "at most 500 servers"),
    (S + "--progress maybe", "there are off on"),
    (S + "--json /nowhere/at/all", "cannot be written"),
    (S + "--table /dev/full", "cannot be written"),
    (S + "--frobnicate", "unrecognized option"),
    (S + "file", "options begin with --"),
    ("--check /nowhere", "/nowhere"),
    ("--check /dev/null --method irs", "--method does not go with --check"),
    ("--check /dev/null --bloom-form exact", "--bloom-form does not go with --check"),
    ("--check /dev/null --svg-tree 3", "--svg-tree does not go with --check"),
    ("--check /dev/null --refine", "--refine does not go with --check"),
]

MEMBERS = [
    ("a server that is not there", "1\n2\n16\n", ":3: 16: there is no such server"),
    ("a flow of nothing", "1 0\n", ":1: 0: a flow is more than 0"),
    ("a flow that is none", "1 2x\n", ":1: 2x: a flow is more than 0"),
    ("a word too many", "1 2 3\n", ":1: 3: a line has a server and a flow"),
    ("nobody", "# nobody\n", "none"),
    ("a long line", "1" * 300, ":1: a line has at most"),
]

GRAPHS = [
    ("empty", "", "no server"),
    ("a word", "server a\nrouter b\n", ":2: router: a line begins with"),
    ("twice", "server a b\nswitch a\n", ":2: a: this name was there before"),
    ("a bad name", 'server a"b\n', "a name has at most 63 characters"),
    ("a long name", "server %s\n" % ("a" * 64), "a name has at most 63 characters"),
    ("a reserved name", "server tree\n", "a name has at most 63 characters"),
    ("no name", "server\n", ":1: server: a name is missing"),
    ("an end too few", "server a b\nlink a\n", ":2: a: a link has two ends"),
    ("an end too many", "server a b c\nlink a b c\n", ":2: c: a link has two ends"),
    ("to itself", "server a\nlink a a\n", ":2: a: a link has two ends"),
    ("to nobody", "server a\nlink a b\n", ":2: b: there is no such server or switch"),
    ("in two parts", "server a b c\nlink a b\n", "no links lead from server a to server c"),
    ("a long line", "server" + " " * 70000, ":1: a line has at most"),
]


def refused(tap, options, want):
    status, out, err = tap.call(options)
    equal(status, 2, "status of %s: %s" % (options, err))
    has(err, want, "%s: no %r in %r" % (options, want, err))
    if "--svg -" not in options:
        equal(out, "", "standard output")


def bad_members(tap, text, want):
    refused(tap, "--bcube 4,1 --receivers 0 --senders @" + tap.file(text), want)


def bad_graph(tap, text, want):
    refused(tap, "--senders a --receivers b --graph " + tap.file(text), want)


def help_text(tap):
    out = tap.good("--help")
    for word in ("--bcube", "--check", "usage: shuffle-plan", "--bloom"):
        has(out, word, "no %s in --help" % word)
    assert all(len(line) <= 80 for line in out.splitlines()), "a line of --help is too long"


def add(tap):
    for options, want in BAD:
        tap.test("refused: " + options, refused, options, want)
    for name, text, want in MEMBERS:
        tap.test("refused members: " + name, bad_members, text, want)
    for name, text, want in GRAPHS:
        tap.test("refused graph: " + name, bad_graph, text, want)
    tap.test("--help", help_text)
