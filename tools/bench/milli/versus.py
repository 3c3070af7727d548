# SPDX-License-Identifier: GPL-2.0-or-later
"""The same sort over AF_SHUFFLE and over Open MPI's TCP transport (mpi_shuffle_sort), in turns, on the rack
of guest.py; what arrives is compared by its checksum.  For each way of MPI to send the records a
transport of its own.

A host's queue is a FIFO, as for AF_SHUFFLE: with fq, which the other benchmarks measure, too, the
sort over MPI took ten times as long (8 hosts, 7000 records each)."""
import json
import os
import statistics
import subprocess
import time

BIN = os.path.join(os.getcwd(), "build/tools/")
LAUNCH = 100        # virtual seconds until a job of MPI has started, and its connections are made
WAYS = {f"ompi-tcp-{way}": way for way in ("messages", "alltoallv")}
JOB = """
hosts=$1 bin=$2
shift 2
. tools/bench/mpi/mpi_rack.sh
setup_mpi
unset OMPI_MCA_mca_base_component_path
on_h0 3000 mpirun -np "$hosts" -H "$list" --mca btl tcp,self \
    -x LD_PRELOAD="$bin/mpi_blocking.so" -x MPI_IDLE=wait -x MPI_SORT_DATA "$@"
"""


def mpi_sort(hosts, way, options):
    """What host 0 says, or None."""
    env = {**os.environ, "MPI_SORT_DATA": way}
    done = subprocess.run(
        ["bash", "-c", JOB, "job", str(hosts), BIN.rstrip("/"), BIN + "mpi_shuffle_sort", *options,
         "-j", "--start", str(int(time.time()) + LAUNCH)],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False)
    if done.returncode:
        print(f"mpi_shuffle_sort: status {done.returncode}: {done.stderr.decode()[-300:]}",
              flush=True)
        return None
    return json.loads(done.stdout)


def versus(rack, runs, say, model, keys, records):
    """Times of all ways; the result of each has the records of the first one."""
    ways = {"shuffle": None, **WAYS}
    times, slowdowns = {way: [] for way in ways}, {way: [] for way in ways}
    for run in range(runs):
        sums = set()
        for name, way in ways.items():
            options = ["--no-output", "--explain", "--no-progress", "-n", records, "--keys", keys,
                       "--seed", str(run + 1)]
            if model != "none":
                options += ["--charge", model]
            said = mpi_sort(rack.hosts, way, options) if way else \
                rack.run(["shuffle-sort", *options])
            if not said:
                continue
            got = rack.sort_times(said)
            late = got["phases"]["sort"]["last_ns"]
            sums.add(said["checksum"])
            if late > 100000 or len(sums) > 1:
                print(f"{name}: not used: starts {late} ns late, {len(sums)} results", flush=True)
                continue
            times[name].append(got["total_ns"])
            slowdowns[name].append(got["total_ns"] / got["bound_ns"])
            print(f"{rack.hosts} hosts, {records} {keys} keys each, {model}, {name}: "
                  f"{got['total_ns'] / 1e3:.1f} us, bound of the shuffle "
                  f"{got['bound_ns'] / 1e3:.1f}; "
                  + ", ".join(f"{p} {t['mean_ns'] / 1e3:.1f}" for p, t in got["phases"].items()),
                  flush=True)
    say({"kind": "versus", "what": "sort", "hosts": rack.hosts, "model": model, "label": keys,
         "each": int(records), "runs": runs, "found": times,
         "slowdown": {way: statistics.median(s) for way, s in slowdowns.items() if s}})
