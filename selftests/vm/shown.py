#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Does each row of Documentation/networking/security.rst name a test, and is there such a test?

usage: shown.py [FILE]

The last table of that page, "What shows it", has the page's rows and properties in their order,
each by its first words, and the names of tests.  A name is that of a case of
selftests/net/shuffle/run_all.sh (of one for IPv4 and IPv6, without -v4 and -v6), of a test under
net/shuffle/test or tools/lib/test, or of a fuzzer there.  Of what is said elsewhere on the page,
only the tests are looked for.
"""
import os
import re
import subprocess
import sys

import rst

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = "Documentation/networking/security.rst"
ELSEWHERE = "Elsewhere on this page"


def sections(lines):
    """Title -> the lines below it."""
    found, title = {}, None
    for i, line in enumerate(lines):
        if i and re.fullmatch(r"=+", line) and len(line) >= len(lines[i - 1]) > 0:
            title = lines[i - 1]
            found[title] = []
        elif title:
            found[title].append(line)
    return found


def plain(text):
    """Without markup, but for the underscores and stars of names."""
    text = re.sub(r"\\ ?|``|\s*\[#\w+\]_", "", text)
    text = re.sub(r":sup:`([^`]*)`", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"^\*(.*)\*$", r"\1", text.strip()))


def tables(lines):
    """Rows of simple tables: [first, all others]."""
    return [[[row[0], " ".join(row[1:]).strip()] for row in rows] for _, _, rows in rst.tables(lines)]


def rows_of(table):
    """Their first columns, behind those of the rows that have only one."""
    head = ""
    for first, rest in table:
        if rest:
            yield head + plain(first)
        else:
            head = plain(first) + ": "


def terms(lines):
    """Of definition lists."""
    for line, below in zip(lines, lines[1:]):
        if re.match(r"[A-Za-z`]", line) and below.startswith("    "):
            yield plain(line)


def to_be_shown(text):
    """(part, [rows]), in the order of the page."""
    page = sections(text.split("\n"))
    grow = tables(page["What others can make grow"])
    return [
        ("Who can do what to whom", list(rows_of(tables(page["Who can do what to whom"])[0]))),
        ("Threat model", list(terms(page["Threat model"]))),
        ("Privileges", list(rows_of(tables(page["Privileges"])[0]))),
        ("By packets", list(rows_of(grow[0]))),
        ("By system calls", list(rows_of(grow[1]))),
        ("Properties", re.findall(r"^(\d+)\. ", "\n".join(page["Properties"]), re.M)),
    ], tables(page["What shows it"])[0]


def names_of_tests():
    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()

    env = dict(os.environ, CASES_LIST="1", FAULTS="1", RACE_SECONDS="1", CASES=".",
               SHUFFLE_LANE="uml")
    for name in ("CASES_CORE", "CASES_PART", "CASES_DONE"):
        env.pop(name, None)
    run = subprocess.run(["bash", os.path.join(ROOT, "selftests/net/shuffle/run_all.sh")], env=env,
                         stdout=subprocess.PIPE, text=True, check=False)
    names = set(run.stdout.split())
    names |= {n.replace("-v4", "", 1) for n in names if re.search("-v4(-|$)", n)}
    suites = re.sub(r"\\\n", " ", read("net/shuffle/test/suites.mk"))
    for folder, suite in re.findall(r"^(PLAN_|FAKE_|)SUITES := (.*)", suites, re.M):
        folder = "tools/lib/test" if folder == "PLAN_" else "net/shuffle/test"
        for file in suite.split():
            names |= set(re.findall(r"KUNIT_CASE(?:_PARAM)?\((\w+)", read(f"{folder}/{file}.c")))
    names |= set(re.search(r"^FUZZ := (.*)", read("net/shuffle/test/Makefile"), re.M)[1].split())
    return names


def main():
    page = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, PAGE)
    with open(page, encoding="utf-8") as f:
        parts, shows = to_be_shown(f.read())
    known, bad = names_of_tests(), []
    wanted = [(part, row) for part, rows in parts for row in rows]
    shown, part = [], ""
    for first, rest in shows:
        if rest:
            shown.append((part, plain(first), re.findall(r"[\w-]+", rest)))
        else:
            part = plain(first)
    for part, rows in parts:
        if not rows:
            bad.append(f"{part}: no row is found")
    for part, row, tests in shown:
        bad += [f"{part}: {row}: there is no test {test}" for test in tests if test not in known]
    shown = [row for row in shown if row[0] != ELSEWHERE]
    for (part, row), (its_part, words, _) in zip(wanted, shown):
        if part != its_part or not row.startswith(words):
            bad.append(f'{part}: "{row}" comes next, not "{words}" of {its_part}')
            break
    else:
        bad += [f"{part}: {row}: no test" for part, row in wanted[len(shown):]]
        bad += [f"{part}: {row}: shows nothing" for part, row, _ in shown[len(wanted):]]
    print(*(f"{PAGE}: {line}" for line in bad), sep="\n", end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
