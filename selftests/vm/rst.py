# SPDX-License-Identifier: GPL-2.0-or-later
"""Simple tables of documents in reStructuredText, for checks of what they say."""

import re
import sys


def tables(lines):
    """Those with one line of heads: number of the first line, heads, rows of cells.

    A row goes on where its first cell is blank.
    """
    i = 0
    while i + 2 < len(lines):
        rule = lines[i]
        if not re.fullmatch(r"=+( +=+)+", rule) or lines[i + 2] != rule:
            i += 1
            continue
        at = [m.start() for m in re.finditer("=+", rule)] + [None]

        def cells(line, at=at):
            return [line[a:b].strip() for a, b in zip(at, at[1:])]

        number, heads, rows = i + 1, cells(lines[i + 1]), []
        i += 3
        while lines[i] != rule:
            if lines[i].strip():
                row = cells(lines[i])
                if row[0]:
                    rows.append(row)
                else:
                    rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], row)]
            i += 1
            if i == len(lines):
                sys.exit(f"line {number}: the table has no end")
        yield number, heads, rows
        i += 1
