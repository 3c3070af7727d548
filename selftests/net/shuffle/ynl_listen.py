#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Print events of the netlink family as the kernel's own client reads them.
#
# usage: ynl_listen.py YNL-FOLDER SPEC GROUP COUNT

import json
import select
import sys

sys.path.insert(0, sys.argv[1])

from lib import YnlFamily  # noqa: E402


def main():
    family = YnlFamily(sys.argv[2], "")
    family.ntf_subscribe(sys.argv[3])
    print("listening", flush=True)
    left = int(sys.argv[4])
    while left > 0:
        select.select([family.sock], [], [])
        family.check_ntf()
        while family.async_msg_queue and left > 0:
            print(json.dumps(family.async_msg_queue.pop(0), default=list), flush=True)
            left -= 1


main()
