#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Commands through the kernel's own netlink client, in one process, since it takes
# long to start; their answers are compared with what is expected.
#
# usage: ynl_expect.py YNL-FOLDER SPEC < COMMANDS
#
# A line of COMMANDS: do|dump OPERATION [JSON] => REGULAR EXPRESSION

import json
import re
import sys

sys.path.insert(0, sys.argv[1])

from lib import NlError, YnlFamily  # noqa: E402


def answer(family, words):
    values = json.loads(words[2]) if len(words) > 2 else {}
    try:
        if words[0] == "do":
            return str(family.do(words[1], values))
        return str(family.dump(words[1], values))
    except NlError as error:
        return str(error)


def main():
    family = YnlFamily(sys.argv[2], "")
    wrong = 0
    for line in sys.stdin:
        command, expected = line.rstrip("\n").split(" => ")
        said = answer(family, command.split(" ", 2))
        if not re.search(expected, said, re.DOTALL):
            print(f"{command}: no {expected} in: {said[:600]}", flush=True)
            wrong += 1
    return wrong > 0


sys.exit(main())
