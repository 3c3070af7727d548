#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command for as long as it makes progress.

usage: watch.py [-n NAME] [-l LOG] [-t TIMES] [-q SECONDS] [-c SECONDS] [-s SECONDS] COMMAND [ARGS...]

  -n NAME     show every line of its output as "[NAME] line"
  -l LOG      append its output to LOG
  -t TIMES    append "SECONDS NAME" for every test of TAP to TIMES
  -q SECONDS  how long a command may be silent and idle (default 300)
  -c SECONDS  processor time that a silent command may use (default 1800)
  -s SECONDS  how often to say that it still runs (default 60)

A machine that is slow or busy makes a command slower, never wrong: there is no limit for
the time that a command takes.  A command hangs when it has printed nothing for -q seconds and
used less than a hundredth of them, or when it has used -c seconds of processor time without
printing anything: on a machine that gives it less, the command has longer.

Exit status: the command's, or 124 if it has hung; then all its processes are killed.
"""
import getopt
import os
import re
import select
import signal
import subprocess
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
TEST = re.compile(r"(?:not )?ok\b[ \d]*(?:- )?([^#]*)")


def processes(session):
    """Of a session: pid -> (seconds of processor time with those of ended children, name)."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                head, tail = f.read().rsplit(")", 1)
        except OSError:
            continue
        field = tail.split()
        if int(field[3]) == session:
            found[int(pid)] = (sum(map(int, field[11:15])) / TICK, head.split("(", 1)[1])
    return found


class Watched:
    """One command, what it prints, and what it has used since it printed last."""

    def __init__(self, name, log, times, command):
        self.prefix = f"[{name}] " if name else ""
        self.log = open(log, "ab") if log else None
        self.times = open(times, "a", encoding="utf-8") if times else None
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, start_new_session=True)
        self.rest = b""
        self.heard = self.told = self.tested = time.monotonic()
        self.used_at = None		# not looked at since the last output
        self.last = ""

    def used(self):
        """Processor time of all its processes.  It may shrink when an orphan ends."""
        return sum(t for t, _ in processes(self.child.pid).values())

    def say(self, text):
        """A line of ours: shown and kept."""
        print(f"{self.prefix}# {text}", flush=True)
        if self.log:
            self.log.write(f"# {text}\n".encode())
            self.log.flush()

    def line(self, raw):
        """A line of the command."""
        now = time.monotonic()
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        print(self.prefix + text, flush=True)
        if self.log:
            self.log.write(raw)
            self.log.flush()
        test = TEST.match(text)
        if test and self.times:
            self.times.write(f"{now - self.tested:.1f} {test[1].strip()}\n")
            self.times.flush()
            self.tested = now
        self.last = text

    def read(self, seconds):
        """Wait for output; False at its end."""
        if not select.select([self.child.stdout], [], [], seconds)[0]:
            return True
        data = os.read(self.child.stdout.fileno(), 65536)
        self.heard = self.told = time.monotonic()
        self.used_at = None
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        if not data and self.rest:
            lines.append(self.rest)
        for raw in lines:
            self.line(raw + b"\n")
        return bool(data)

    def hung(self, quiet, most):
        """Why it hangs, or None."""
        silent = time.monotonic() - self.heard
        if silent < 1:
            return None
        if self.used_at is None:
            self.used_at = self.used()
        used = max(self.used() - self.used_at, 0)
        if silent > quiet and used < silent / 100:
            return f"nothing said for {silent:.0f} s, and {used:.1f} s of a processor used"
        if used > most:
            return f"{used:.0f} s of a processor used, and nothing said"
        return None

    def stood_still(self, seconds):
        """The whole machine may have; then this time does not count."""
        if seconds > 0:
            self.heard += seconds

    def still(self, every):
        """Say now and then that it runs."""
        now = time.monotonic()
        if now - self.told >= every:
            self.told = now
            print(f"{self.prefix}... {now - self.heard:.0f} s after: {self.last[:90]}", flush=True)

    def end(self, sig):
        """End all its processes; a guest that is ended cleanly keeps its console."""
        for pid in processes(self.child.pid):
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass


def main():
    """Watch."""
    try:
        options, command = getopt.getopt(sys.argv[1:], "n:l:t:q:c:s:")
    except getopt.GetoptError as e:
        sys.exit(f"watch.py: {e}")
    o = {"-n": "", "-l": "", "-t": "", "-q": 300, "-c": 1800, "-s": 60} | dict(options)
    if not command:
        sys.exit(__doc__)
    w = Watched(o["-n"], o["-l"], o["-t"], command)

    def stop(sig, _):
        w.end(signal.SIGTERM)
        sys.exit(128 + sig)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    seen = time.monotonic()
    while w.read(2):
        # What it has started and not ended may keep its output open.
        if w.child.poll() is not None and time.monotonic() - w.heard > 2:
            break
        w.stood_still(time.monotonic() - seen - 15)
        seen = time.monotonic()
        why = w.hung(float(o["-q"]), float(o["-c"]))
        if why:
            left = ", ".join(f"{name} ({pid})" for pid, (_, name) in processes(w.child.pid).items())
            w.say(f"no progress: {why}; ended: {left}")
            w.end(signal.SIGTERM)
            time.sleep(5)
            w.end(signal.SIGKILL)
            while w.read(0.5):
                if time.monotonic() - w.heard > 5:
                    break
            w.child.wait()
            sys.exit(124)
        w.still(float(o["-s"]))
    status = w.child.wait()
    w.end(signal.SIGKILL)
    sys.exit(128 - status if status < 0 else status)


main()
