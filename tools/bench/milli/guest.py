#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What milli.sh runs inside the kernel, lane uml-time: one rack of hosts, and on it the searches of
a file, one a line:

    largest WHAT MODEL BUDGET_US FIRST_GUESS
        the largest number of records (WHAT: sort) or rows (q1, q2, q3) of a host that all hosts
        are done with within the budget; the time is the median of RUNS runs
    once WHAT MODEL RECORDS LABEL [OPTION...]
        the phases of a sort, RUNS runs
    versus MODEL KEYS RECORDS
        the same sort over AF_SHUFFLE and over Open MPI's TCP, RUNS runs; MODEL none: computation
        takes no time

usage: MEM_MAX=BYTES guest.py HOSTS RATE_GBPS RTT_US RUNS FILE

One line of JSON for each run that counts: "MILLI {...}".
"""
import json
import os
import statistics
import subprocess
import sys
import time

from versus import versus

BIN = "build/tools/"
TABLES = {"q1": ("wiki",), "q2": ("edits",), "q3": ("commits", "languages")}
# a join's rows grow with the square of the most frequent key
SHAPE = {"q3": ("-z", "0.5")}
PHASES = ("sort", "partition", "shuffle", "place")
# of a query's tables in memory; where all hosts' would be more, they share one part: Q1 only, whose
# languages are the same at all hosts anyway
ROWS_MAX = 200000000
SOONER = 30         # virtual seconds until a run starts: free of charge
PROBES = 8


def say(what):
    """A line of results."""
    print("MILLI " + json.dumps(what), flush=True)


class Rack:
    """The hosts, and what runs on them."""

    def __init__(self, hosts, rate, rtt):
        self.hosts, self.rate, self.rtt = hosts, rate, rtt
        self.ops = 0
        self.tables = None
        subprocess.run(["tools/bench/rack.sh", "up", str(hosts), f"rate={rate}gbit", "mtu=9000",
                        "buffer=1000000", f"delay={rtt // 2}us"], check=True)
        subprocess.run([BIN + "shufflectl", "config", "set", "mem-max", os.environ["MEM_MAX"]],
                       check=True)
        subprocess.run(["tools/bench/config_all.sh", str(hosts), "link-rate", str(rate * 1000),
                        "rtt", str(rtt * 1000)], check=True)
        with open("/tmp/group", "w", encoding="ascii") as f:
            for h in range(1, hosts + 1):
                f.write(f"10.18.{h // 256}.{h % 256}:7000\n")

    def run(self, command):
        """A program at all hosts, started at the same time; what host 0 says."""
        self.ops += 1
        start = int(time.time()) + SOONER
        processes = []
        for h in range(self.hosts):
            with open(f"/tmp/out.{h}", "wb") as out, open(f"/tmp/err.{h}", "wb") as errors:
                processes.append(subprocess.Popen(
                    ["ip", "netns", "exec", f"h{h}", BIN + command[0], *command[1:],
                     "-g", "/tmp/group", "-r", str(h), "-o", str(self.ops), "-j",
                     "--start", str(start)],
                    stdin=subprocess.DEVNULL, stdout=out, stderr=errors))
        bad = sum(p.wait() != 0 for p in processes)
        if bad:
            for h in range(self.hosts):
                with open(f"/tmp/err.{h}", encoding="utf-8", errors="replace") as f:
                    text = f.read(300)
                if text:
                    print(f"{bad} hosts have failed; host {h}: {text}", flush=True)
                    break
            return None
        with open("/tmp/out.0", encoding="utf-8") as f:
            return json.loads(f.read())

    def sort(self, model, records, seed, options=()):
        """Times of a sort in ns, from the common start."""
        said = self.run(["shuffle-sort", "--no-output", "--explain", "--no-progress",
                         "-n", str(records), "--charge", model, "--seed", str(seed), *options])
        return said and self.sort_times(said)

    def sort_times(self, said):
        """When phases begin and end at the hosts; and what the link asks for."""
        hosts = said["all"]
        begin = min(h["start_ns"] for h in hosts)
        at = {h["rank"]: h["start_ns"] - begin for h in hosts}
        times = {}
        for p in PHASES:
            first, last = min(at.values()), max(at.values())
            spent = [h[p + "_ns"] for h in hosts]
            for h in hosts:
                at[h["rank"]] += h[p + "_ns"]
            times[p] = {"first_ns": first, "last_ns": last, "end_ns": max(at.values()),
                        "mean_ns": statistics.mean(spent), "max_ns": max(spent),
                        "min_ns": min(spent)}
        most = max(max(h["shuffle_bytes_out"], h["shuffle_bytes_in"]) for h in hosts)
        return {"total_ns": max(at.values()), "phases": times,
                "bound_ns": most * 8 / self.rate + self.rtt * 1000,
                "excess_percent": said["excess_percent"], "records": said["records"]}

    def query(self, name, model, rows, seed):
        """Time of a query in ns at host 0, which has the result."""
        folder = f"/tmp/tables-{name}"
        if self.tables != (name, rows, seed):
            subprocess.run(["rm", "-rf", folder], check=True)
            parts = self.hosts
            if name == "q1" and rows * parts > ROWS_MAX:
                parts = 1
            for t in TABLES[name]:
                subprocess.run([BIN + "shuffle-query", "generate", t, "-n",
                                str(rows * parts // len(TABLES[name])), "-b",
                                "-p", str(parts), "-o", folder, "-s", str(seed),
                                *SHAPE.get(name, ())],
                               check=True, stderr=subprocess.DEVNULL)
                if parts == 1:
                    for h in range(1, self.hosts):
                        os.symlink(f"{t}.0.shq", f"{folder}/{t}.{h}.shq")
            self.tables = (name, rows, seed)
        # as the source's: heavy keys are not looked for
        said = self.run(["shuffle-query", "run", name, "--tables", folder, "--charge", model,
                         "--hot", "off"])
        return said and {"total_ns": said["took_ns"], "records": rows * self.hosts,
                         "operators": said["phases"]}

    def times(self, what, model, n, seed):
        """One run."""
        if what == "sort":
            return self.sort(model, n, seed)
        return self.query(what, model, n, seed)


def median_of(rack, what, model, n, runs):
    """The run in the middle."""
    found = [rack.times(what, model, n, seed + 1) for seed in range(runs)]
    if None in found:
        return None
    found.sort(key=lambda t: t["total_ns"])
    return found[len(found) // 2]


def largest(rack, runs, what, model, budget_us, guess):
    """Search: the time grows with the number, about linearly."""
    budget, low, high, best = int(budget_us) * 1000, (0, 0, None), None, None
    n = int(guess)
    for _ in range(PROBES):
        got = median_of(rack, what, model, n, 1)
        if got is None:
            break
        t = got["total_ns"]
        print(f"{rack.hosts} hosts, {what}, {model}: {n} take {t / 1e3:.1f} us", flush=True)
        if t <= budget:
            low = (n, t, got)
            if t > 0.98 * budget:
                break
        else:
            high = (n, t)
        if high is None:
            n = int(n * min(4, 0.995 * budget / t if t > budget / 2 else 2))
            n = max(n, low[0] + max(1, low[0] // 100))
            continue
        slope = (high[1] - low[1]) / (high[0] - low[0])
        n = int(low[0] + (budget * 0.995 - low[1]) / slope)
        if n <= low[0] * 1.01 or high[0] - low[0] <= max(1, low[0] // 100):
            break
    for n in (low[0], low[0] * 99 // 100, low[0] * 97 // 100):
        if not n:
            break
        if runs == 1:
            best = low[2]
            break
        best = median_of(rack, what, model, n, runs)
        if best and best["total_ns"] <= budget:
            break
        best = None
    say({"kind": "largest", "what": what, "hosts": rack.hosts, "model": model, "runs": runs,
         "budget_ns": budget, "each": n, "found": best})


def once(rack, runs, what, model, n, label, *options):
    """Phases of a sort."""
    assert what == "sort"
    found = [rack.sort(model, int(n), seed + 1, options) for seed in range(runs)]
    found = [f for f in found if f]
    say({"kind": "once", "what": what, "hosts": rack.hosts, "model": model, "label": label,
         "each": int(n), "runs": len(found), "found": found})


def main():
    """All lines of the file."""
    hosts, rate, rtt, runs = map(int, sys.argv[1:5])
    rack = Rack(hosts, rate, rtt)
    with open(sys.argv[5], encoding="ascii") as f:
        for line in f:
            command, *words = line.split()
            if command == "versus":
                versus(rack, runs, say, *words)
                continue
            {"largest": largest, "once": once}[command](rack, runs, *words)


os.environ["PATH"] += ":/usr/sbin:/sbin"
main()
