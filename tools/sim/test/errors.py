# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad arguments and files: status 2, one clear line, nothing simulated."""

import os

from tap import equal, has, lacks, starts

BAD = [
    ("--algo fifo", "there are grpf srpt"),
    ("--hosts 1", "--hosts 1: a number from 2"),
    ("--hosts 12.5", "a whole number"),
    ("--hosts", "requires an argument"),
    ("--frobnicate", "shuffle-sim: unrecognized option"),
    ("--csv - --json -", "only one of --json, --csv and --series"),
    ("--grant-units 0", "1 to 1000 packets"),
    ("--preempt-order never", "there are random alternate"),
    ("file.csv", "options begin with --"),
    ("--racks 3", "fill all racks evenly"),
    ("--racks 0", "fill all racks evenly"),
    ("--core 0", "core bandwidth"),
    ("--core nan", "a number"),
    ("--core -1", "a number"),
    ("--overcommit 0", "overcommit must be"),
    ("--skewness 1.5", "numbers from 0 to 1"),
    ("--skewness 0.1,,0.2", "numbers from 0 to 1"),
    ("--skewness ''", "numbers from 0 to 1"),
    ("--workload uniform --skewness 0.1", "--skewness is for"),
    ("--workload nothing", "there is no such generator"),
    ("--runs 0", "--runs 0"),
    ("--threads 65", "--threads 65"),
    ("--preempt-share 1", "between 0 and 1"),
    ("--catchup 0", "at least one packet"),
    ("--shuffles 33", "1 to 32"),
    ("--spines 0", "1 to 1024"),
    ("--seed x", "a whole number"),
    ("--algo madd --redirect 5", "know a limit"),
    ("--spray maybe", "there are off on"),
    ("--curve a --runs 3", "stands before the first"),
    ("--curve a,b", "no commas"),
    ("--matrix /nowhere/at/all", "/nowhere/at/all"),
    ("--matrix /dev/null --hosts 4", "does not go with"),
    ("--hosts 4 --csv /nowhere/at/all", "cannot be written"),
    ("--hosts 4 --json /dev/full", "cannot be written"),
]

FILES = [
    ("empty", "", None),
    ("not square", "1,2,3\n4,5\n", None),
    ("not numbers", "1,2\n3,x\n", None),
    ("negative", "1,2\n3,-4\n", None),
    ("one host", "5\n", None),
    ("a message of 2^24 packets", "0,25165824000\n0,0\n", "16777215 packets"),
]


def refused(tap, options, want):
    status, out, err = tap.call(options.replace("''", "=") if "''" in options else options)
    equal(status, 2, "status of %s" % options)
    has(err, want, "%s: no %r in %r" % (options, want, err))
    lacks(err, "Sanitizer", "err")
    equal(out, "", "standard output")


def bad_file(tap, text, want):
    path = os.path.join(tap.dir, "bad.csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    refused(tap, "--matrix " + path, want or path)


def help_text(tap):
    status, out, err = tap.call("--help")
    equal((status, err), (0, ""), "status")
    for word in ("--matrix", "--overcommit", "--curve", "usage: shuffle-sim"):
        has(out, word, "no %s in --help" % word)


def version(tap):
    status, out, err = tap.call("--version")
    equal((status, err), (0, ""), "status")
    starts(out, "shuffle-sim ", "out")
    equal(out.count("."), 2, 'out.count(".")')


def gives_up(tap):
    status, out, _ = tap.call("--hosts 10 --max-steps 20")
    equal(status, 0, "status")
    has(out, "did not end", "out")
    (result,) = tap.run("--hosts 10 --max-steps 20")
    equal(result["ended"], False, "ended")


def add(tap):
    for options, want in BAD:
        tap.test("refused: " + options, refused, options, want)
    for name, text, want in FILES:
        tap.test("refused file: " + name, bad_file, text, want)
    tap.test("--help", help_text)
    tap.test("--version", version)
    tap.test("--max-steps: gives up", gives_up)
