# SPDX-License-Identifier: GPL-2.0-or-later
"""Do applications have of a port what their weights say, while all of them have to wait?

usage: saba_share.py SHUFFLE-SABA NETNS PORT BYTES APP... [rest=PERCENT]

Counts BYTES that leave the port, time does not matter.  Each application has a queue
of its own, in which something waits from the first to the last sample.  "rest" is what
belongs to no level: of the link, PERCENT are reserved for it.

BYTES are to be many rounds of 30 KB: of one that is cut off some have had their turn, and
others have not.
"""
import json
import subprocess
import sys
import time

TOLERANCE = .03     # of the weight
REST = -1           # its band is the one before those of the queues
PATIENCE = 1200     # samples
FULL = 60000        # bytes that wait in each queue when the counting begins

saba, netns, port = sys.argv[1:4]
least, names = int(sys.argv[4]), [n for n in sys.argv[5:] if not n.startswith("rest=")]
rest = {"rest": (REST, int(n[5:])) for n in sys.argv[5:] if n.startswith("rest=")}


def output(*words):
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def weights():
    """Queue and weight of each application."""
    rows = output(saba, "--json", "show")
    (row,) = [r for r in rows if r.get("port") == port]
    levels = {r["app"]: r["level"] for r in rows if "app" in r}
    return {n: (row["level_%d_queue" % levels[n]], row["level_%d_weight" % levels[n]])
            for n in names}


def sample(queues):
    """Bytes that have left each queue, and the least that waits in one."""
    shown = output("tc", "-n", netns, "-s", "-j", "qdisc", "show", "dev", port)
    rows = {r["parent"]: r for r in shown if r["kind"] == "bfifo"}
    mine = {n: rows["5362:%x" % (q + 3)] for n, q in queues.items()}
    return {n: r["bytes"] for n, r in mine.items()}, min(r["backlog"] for r in mine.values())


want = {**weights(), **rest}
queue = {n: q for n, (q, _) in want.items()}
assert len(set(queue.values())) == len(want), "they share queues: %s" % want
before = None
for _ in range(PATIENCE):
    after, waits = sample(queue)
    if not waits:
        # whoever sends was too slow: begin again
        before = None
    elif not before and waits > FULL:
        before = after
    elif before and sum(after.values()) - sum(before.values()) >= least:
        break
    time.sleep(.05)
else:
    sys.exit("too little waits, or nothing leaves: %s of %s" % (after, before))
got = {n: after[n] - before[n] for n in want}
total, all_weights = sum(got.values()), sum(w for _, w in want.values())
wrong = False
for n in want:
    share, weight = got[n] / total, want[n][1] / all_weights
    print("%s has %.4f of %d bytes, %.4f of the weights" % (n, share, total, weight))
    wrong |= abs(share - weight) > TOLERANCE * weight
sys.exit(wrong)
