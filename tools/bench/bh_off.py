#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The longest times for which the module keeps bottom halves from running.

usage: bh_off.py [-n LINES] SYMBOLS <TRACE

SYMBOLS is /proc/kallsyms; TRACE is of the function tracer, with the functions that
bh_off_guest.sh names and with the events softirq_entry and softirq_exit.  Prints, longest
first, a line for each kind of section: where it begins, times in us.

  process    from spin_lock_bh() to the end, in a process; of a queue that is flushed, the
             first burst
  function   from the call of a function that runs in a softirq to the next such call, or to
             the end of the softirq: what the network stack does in between is counted, too

The time of hard interrupts is taken off.
"""
import argparse
import collections
import re
import sys

LINE = re.compile(r"\s*.+-(\d+)\s+\[(\d+)\]\s+\S+\s+([0-9.]+): (\S+?):? (.*)")
LOCK, UNLOCK, ENABLE = "_raw_spin_lock_bh", "_raw_spin_unlock_bh", "__local_bh_enable_ip"
IN_SOFTIRQ = {"shuffle_input_packet", "timer_fires", "egress_run"}
FLUSH = "shuffle_output_flush"
HARDIRQ = {"irq_handler_entry", "irq_handler_exit", "local_timer_entry", "local_timer_exit"}


def our_symbols(path):
    """Functions of the module."""
    with open(path, encoding="ascii") as f:
        return {line.split()[2] for line in f if line.rstrip().endswith("[shuffle]")}


class Cpu:
    """Sections that are open on one CPU."""

    def __init__(self, spans, flushes):
        self.spans = spans
        self.flushes = flushes
        self.softirq = False
        self.depth = 0
        self.begin = None
        self.call = None
        self.irq = None
        self.irqs = 0    # us of hard interrupts so far

    def hardirq(self, now, entry):
        """A hard interrupt begins or ends: none within another."""
        if entry:
            self.irq = now
        elif self.irq is not None:
            self.irqs += now - self.irq
            self.irq = None

    def close_call(self, now):
        """The softirq's current function has ended."""
        if self.call:
            self.spans["function " + self.call[1]].append(now - self.call[0])
        self.call = None

    def process(self, now, step, name):
        """A section of a process begins (step 1) or ends (-1)."""
        if self.depth == 0 and step > 0:
            self.begin = (now, name)
        self.depth = max(self.depth + step, 0)
        if self.depth == 0 and self.begin and step < 0:
            self.spans["process " + self.begin[1]].append(now - self.begin[0])
            self.begin = None

    def event(self, now, task, name, rest, ours):
        """One line of the trace."""
        if name in HARDIRQ:
            self.hardirq(now, name.endswith("entry"))
            return
        now -= self.irqs
        caller = rest[2:].strip() if rest.startswith("<-") else ""
        if name == "softirq_entry":
            self.softirq = True
        elif name == "softirq_exit":
            self.close_call(now)
            self.softirq = False
            if self.begin:    # spin_lock_bh() had been called, and not done anything yet
                self.begin = (now, self.begin[1])
        elif self.softirq:
            if name in IN_SOFTIRQ:
                self.close_call(now)
                self.call = (now, name)
        elif name == LOCK and caller in ours:
            self.process(now, 1, caller)
        elif name == UNLOCK and caller in ours:
            self.process(now, -1, caller)
        elif name == FLUSH:
            # An empty queue has no end: the task's next call takes its place.
            self.flushes[task] = now
        elif name == ENABLE and caller == FLUSH and task in self.flushes:
            self.spans["process " + FLUSH].append(now - self.flushes.pop(task))


def main():
    """Read, sort, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=12, metavar="LINES")
    parser.add_argument("symbols")
    args = parser.parse_args()
    ours = our_symbols(args.symbols)
    spans = collections.defaultdict(list)
    cpus = {}
    flushes = {}    # task: when it began; between two bursts it may change its CPU
    for line in sys.stdin:
        found = LINE.match(line)
        if found:
            task, cpu, now, name, rest = found.groups()
            cpu = cpus.setdefault(cpu, Cpu(spans, flushes))
            cpu.event(float(now) * 1e6, task, name, rest, ours)
    for where, times in sorted(spans.items(), key=lambda item: -max(item[1]))[:args.n]:
        times.sort()
        kind, name = where.split()
        print(f"kind={kind} begins={name} times={len(times)} max_us={times[-1]:.0f} "
              f"p99_us={times[len(times) * 99 // 100]:.0f} median_us={times[len(times) // 2]:.0f}")


main()
