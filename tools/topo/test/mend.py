# SPDX-License-Identifier: GPL-2.0-or-later
"""shuffle-plan-mend and shuffle-plan-watch, on hosts that are played by a script."""

import json
import os
import signal
import subprocess
import threading
import time

from tap import equal, has, true

HERE = os.path.dirname(os.path.abspath(__file__))

# usage: host FOLDER HOST COMMAND...
HOST = r"""
cd "$1" && host=$2 && shift 2
! grep -qx "$host" silent || exit 255
case $* in
"shufflectl peer ping "*) grep -qx "$host $4" pairs || exit 5 ;;
"shufflectl peer show "*) ! grep -qx "$host $4" strangers || exit 3 ;;
"shufflectl config show") ! grep -qx "$host" unready || exit 3 ;;
"shuffle-relayd --start") ;;
"shufflectl relay "*) echo "$host $3" >>relays ;;
"shufflectl -j monitor ops")
	echo $$ >>monitors
	echo '{"time":"0","event":"op-started","op_id":1}'
	# what happens is a line of a file
	exec tail -n +1 -s 0.1 -F "event.$host" 2>/dev/null
	;;
*) exit 2 ;;
esac
"""

RACKS = "--racks 3x3 --senders r0h0,r0h1,r1h0,r1h1 --receivers r2h0"
# Server r or q joins the two halves.
GRAPH = """server a b c r q s
switch one two
link a one
link b one
link r one
link r two
link q one
link q two
link s two
link c two
"""


class Net:
    """Servers with an address for each link, and who reaches whom."""

    def __init__(self, tap, options, addresses):
        self.tap, self.options = tap, options
        self.dir = os.path.join(tap.dir, "net")
        os.makedirs(self.dir, exist_ok=True)
        self.addresses = addresses
        self.path = "%s:%s" % (os.path.dirname(os.path.abspath(tap.plan)), os.environ["PATH"])
        for name in ("silent", "strangers", "unready", "relays", "monitors"):
            self.put(name, "")
        for server in addresses:
            self.put("event." + server, "")
        self.put("hosts", "".join(
            "%s %s %s\n" % (s, ",".join(a + ":7000" for a in all_of), s)
            for s, all_of in addresses.items()))
        tap.good("%s --quiet --table %s/table" % (options, self.dir))
        self.reach(lambda a, b, link: True)

    def put(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
            f.write(text)

    def get(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8") as f:
            return f.read()

    def reach(self, who):
        """who(a, b, i): does server a reach the address i of server b?"""
        self.put("pairs", "".join("%s %s\n" % (a, at) for a in self.addresses
                                  for b, all_of in self.addresses.items()
                                  for i, at in enumerate(all_of) if who(a, b, i)))

    def command(self, program, more):
        return ["bash", os.path.join(HERE, "..", program), self.dir + "/table",
                self.dir + "/hosts", "--plan", self.options, "--run",
                "bash %s/host %s %%h" % (self.dir, self.dir)] + more

    def mend(self, *more):
        """Exit status, all that was said."""
        self.put("host", HOST)
        p = subprocess.run(self.command("shuffle-plan-mend", list(more)), text=True, timeout=120,
                           env=dict(os.environ, PATH=self.path), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False)
        return p.returncode, p.stdout

    def watch(self, *more):
        self.put("host", HOST)
        return subprocess.Popen(self.command("shuffle-plan-watch", ["--json"] + list(more)),
                                env=dict(os.environ, PATH=self.path), text=True,
                                stdout=subprocess.PIPE)

    def edges(self):
        """(server, parent) of the table."""
        rows = [line.split() for line in self.get("table").splitlines()]
        return [(r[0], r[1]) for r in rows if len(r) == 5 and r[-1] != "root" and r[0] != "tree"]

    def without(self):
        return [line.split()[2] for line in self.get("table").splitlines()
                if line.startswith("# without ")]


def racks(tap):
    return Net(tap, RACKS, {"r%dh%d" % (r, h): ["10.0.%d.%d" % (r, h + 1)]
                            for r in range(3) for h in range(3)})


def graph(tap):
    path = tap.file(GRAPH, "mend-graph")
    return Net(tap, "--graph %s --senders a,b,c --receivers s" % path,
               {s: ["10.0.0.%d" % (i + 1)] for i, s in enumerate("abcrqs")})


def cube(tap):
    return Net(tap, "--bcube 2,1 --senders 1,2,3 --receivers 0",
               {str(s): ["10.0.%d.%d" % (s // 2, s % 2), "10.1.%d.%d" % (s % 2, s // 2)]
                for s in range(4)})


def mended(net, failed, *more):
    status, said = net.mend(*more)
    equal(status, 0, said)
    equal(net.without(), failed, said)
    has(said, "failed: " + " ".join(failed), "said")


def alive(tap):
    for make in (racks, graph, cube):
        net = make(tap)
        before = net.get("table")
        status, said = net.mend()
        equal(status, 0, said)
        has(said, "edges are alive", "said")
        equal(net.get("table"), before, "the table")


def link_of_graph(tap):
    net = graph(tap)
    has(net.edges(), ("a", "r"), "net.edges()")
    net.reach(lambda a, b, link: (a, b) != ("a", "r"))
    status, said = net.mend("--dry-run")
    equal(status, 3, said)
    mended(net, ["r/one"], "--", "sorted")
    equal({a for a, _ in net.edges()}, {"a", "b", "c", "q"}, "{a for a, _ in net.edges()}")
    equal(net.get("relays").split(), ["r", "del", "q", "add"], "relays")
    # a plan of what is left is checked, too
    status, said = net.mend()
    equal(status, 0, said)
    has(said, "all 4 edges are alive", "said")


def server_of_racks(tap):
    net = racks(tap)
    # the plan merges in senders; one that has gone leaves no plan, and no way
    dead = net.edges()[-1][1]
    net.put("silent", dead + "\n")
    net.reach(lambda a, b, link: dead not in (a, b))
    before = net.get("table")
    status, said = net.mend()
    equal(status, 4, said)
    has(said, "no plan, no route: %s cannot reach r2h0" % dead, "said")
    equal((net.get("table"), net.get("relays")), (before, ""), "nothing is changed")
    assert not os.path.exists(net.dir + "/table.new"), "table.new is left"


def switch_of_graph(tap):
    """The middle has gone, and there is another way that the graph does not have."""
    net = graph(tap)
    net.reach(lambda a, b, link: b == "s" and a != "r" and a != "c" or (a, b) == ("b", "a"))
    status, said = net.mend()
    equal(status, 4, said)
    has(said, "no route: c cannot reach s", "said")
    net.reach(lambda a, b, link: b == "s" and a != "r" or (a, b) == ("b", "a"))
    net.put("unready", "q\n")
    status, said = net.mend()
    equal(status, 0, said)
    has(said, "no relays: q", "said")
    has(said, "unicast: 3 senders to s", "said")
    equal(net.edges(), [("a", "s"), ("b", "s"), ("c", "s")], "edges")
    equal(net.get("relays").split(), ["r", "del"], "relays")
    has(said, "epoch 2", "said")
    # a plan like this is asked over as others are
    status, said = net.mend()
    equal(status, 0, said)
    has(said, "all 3 edges are alive", "said")
    net.reach(lambda a, b, link: b == "s" and a != "b")
    status, said = net.mend()
    equal(status, 4, said)
    has(said, "no route: b cannot reach s", "said")


def unicast(tap):
    """Senders go by the first of their addresses that reach each other."""
    net = cube(tap)
    net.reach(lambda a, b, link: link == (a == "3"))
    status, said = net.mend("--unicast")
    equal(status, 0, said)
    rows = net.get("table").splitlines()[-3:]
    equal(rows, ["1 0 0 1 sender", "2 0 0 1 sender", "3 0 1 1 sender"], "rows")


def strangers(tap):
    """No answer by whom no program has in its group yet is no dead edge."""
    net = cube(tap)
    net.reach(lambda a, b, link: (a, b) != ("2", "0"))
    net.put("strangers", "0 %s\n" % net.addresses["2"][1])
    status, said = net.mend()
    equal(status, 0, said)
    has(said, "2 edges are alive, 1 cannot be asked over", "said")
    net.put("strangers", "")
    mended(net, ["0/1", "2/1"])


def locked(tap):
    net = cube(tap)
    with subprocess.Popen(["flock", net.dir + "/table", "sleep", "60"],
                          start_new_session=True) as holder:
        try:
            for _ in range(100):
                status, said = net.mend()
                if status:
                    break
            equal(status, 1, said)
            has(said, "is being mended already", "said")
        finally:
            os.killpg(holder.pid, signal.SIGTERM)


def next_event(p, name):
    """The next one of that name."""
    while True:
        line = p.stdout.readline()
        true(line, "it has ended: no event " + name)
        event = json.loads(line)
        if event["event"] == name:
            return event


def monitors(net, n):
    """Process ids, once there are so many."""
    while len(net.get("monitors").split()) < n:
        time.sleep(0.05)
    return [int(pid) for pid in net.get("monitors").split()]


def running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
            return f.read().split()[2] != "Z"
    except OSError:
        return False


def watch(tap):
    net = graph(tap)
    with net.watch("--pause", "1") as p:
        stop = threading.Timer(100, p.kill)
        stop.start()
        try:
            equal(next_event(p, "watch")["hosts"], 6, "hosts")
            pids = monitors(net, 6)
            net.reach(lambda a, b, link: (a, b) != ("a", "r"))
            net.put("event.s", '{"event":"op-failed","op_id":1,"error":110,"rank":5}\n')
            event = next_event(p, "mend")
            equal((event["because"], event["status"], event["epoch"]),
                  ("op-failed at s", 0, 2), event)
            has(event["output"], "failed: r/one", 'event["output"]')
            equal(net.without(), ["r/one"], "without")
            # a monitor that ends begins again
            os.kill(pids[0], signal.SIGTERM)
            next_event(p, "monitor-ended")
            pids = monitors(net, 7)
            # what cannot be mended is tried again
            net.reach(lambda a, b, link: False)
            net.put("event.a", '{"event":"msg-straggler","op_id":1}\n')
            while next_event(p, "mend")["status"] == 0:
                pass
            event = next_event(p, "mend")
            equal((event["because"], event["status"]), ("again", 4), event)
            p.send_signal(signal.SIGTERM)
            equal(p.wait(60), 0, "ends")
            equal([pid for pid in pids if running(pid)], [], "monitors are left")
        finally:
            stop.cancel()
            p.terminate()


def watch_once(tap):
    """Who cancels an operation needs no other plan."""
    net = racks(tap)
    net.put("event.r2h0", '{"event":"op-failed","op_id":1,"error":125,"rank":5}\n'
            '{"event":"op-failed","op_id":1,"error":125}\n{"event":"msg-straggler"}\n')
    with net.watch("--once") as p:
        out = p.communicate(timeout=100)[0]
    events = [json.loads(line) for line in out.splitlines()]
    equal([e["event"] for e in events], ["watch", "msg-straggler", "mend"], out)
    equal((p.returncode, events[-1]["status"]), (0, 0), out)


def add(tap):
    tap.test("mend: all edges are alive", alive)
    tap.test("mend: a link of a graph", link_of_graph)
    tap.test("mend: a server of a rack", server_of_racks)
    tap.test("mend: a switch of a graph", switch_of_graph)
    tap.test("mend: no relays", unicast)
    tap.test("mend: programs that have an old group", strangers)
    tap.test("mend: one at a time", locked)
    tap.test("watch: events, monitors that end, the end", watch)
    tap.test("watch: once", watch_once)
