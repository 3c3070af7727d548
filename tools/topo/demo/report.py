#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What links carry when servers of a BCube(4,1) merge, and when they do not: a table, a picture
and JSON.  usage: report.py DIR OUT, with DIR as run.sh leaves it.
"""

import json
import os
import sys

SERVERS = 16
WAYS = (("straight", "each sender straight to the receiver"),
        ("merged", "merged on the way"))


class Way:
    """One way of counting: roles, what members say, what counters have added."""

    def __init__(self, folder, name):
        self.name = name
        path = os.path.join(folder, name)
        with open(path + ".roles", encoding="ascii") as f:
            words = [line.split() for line in f]
        self.parent = {int(w[0]): int(w[1]) for w in words if w[1] != "-"}
        self.role = {int(w[0]): w[2] for w in words}
        self.receiver = next(r for r, role in self.role.items()
                             if role == "member" and r not in self.parent)
        self.says = {}
        for rank, role in self.role.items():
            if role == "member" and rank != self.receiver:
                with open("%s.%d" % (path, rank), encoding="utf-8") as f:
                    self.says[rank] = json.load(f)
        self.links = links(path)
        self.payload = self.payload_of(relayed(path))

    def payload_of(self, by_relays):
        """Bytes of records and words from server to server, by the pair."""
        out = {}
        for rank, parent in self.parent.items():
            if self.role[rank] == "relay":
                add(out, (rank, parent), by_relays[rank])
                continue
            says = self.says[rank]
            add(out, (rank, self.receiver), says["word_bytes"])
            add(out, (rank, parent), says["record_bytes_sent"])
        return out

    def payload_on_links(self):
        """Over all links: a hop is two."""
        return sum(2 * hops(a, b) * n for (a, b), n in self.payload.items())

    def payload_at_receiver(self):
        return sum(n for (_, b), n in self.payload.items() if b == self.receiver)

    def relays(self):
        return sum(role == "relay" for role in self.role.values())


def add(to, key, n):
    to[key] = to.get(key, 0) + n


def hops(a, b):
    return (a // 4 != b // 4) + (a % 4 != b % 4)


def links(path):
    """Bytes by (server, level): out of the server and into it, as the switch's end has them."""
    out = {}
    for sign, when in ((-1, "before"), (1, "after")):
        with open("%s.%s.links" % (path, when), encoding="utf-8") as f:
            for dev in json.load(f):
                if not dev["ifname"].startswith("p"):
                    continue
                level, server = dev["ifname"][1:].split(".")
                both = out.setdefault((int(server), int(level)), [0, 0])
                both[0] += sign * dev["stats64"]["rx"]["bytes"]
                both[1] += sign * dev["stats64"]["tx"]["bytes"]
    return out


def relayed(path):
    """Bytes of records that relays have sent, by server."""
    out = {}
    with open(path + ".relays", encoding="utf-8") as f:
        for line in f:
            server, relays = line.split(" ", 1)
            out[int(server)] = 16 * json.loads(relays)[0]["records_out"]
    return out


def words_of(path):
    """All and distinct ones, of what uniq -c prints."""
    with open(path, "rb") as f:
        counts = [int(line.split()[0]) for line in f]
    return sum(counts), len(counts)


def thousands(n):
    return "{:,}".format(n).replace(",", " ")


def table(ways):
    """Lines of text, and the same as numbers."""
    rows = [("records, words over links, bytes", [w.payload_on_links() for w in ways]),
            ("the same at the receiver, bytes", [w.payload_at_receiver() for w in ways]),
            ("all packets over links, bytes", [sum(map(sum, w.links.values())) for w in ways]),
            ("most on one link, one direction", [max(map(max, w.links.values())) for w in ways]),
            ("links with more than 1000 bytes", [sum(sum(b) > 1000 for b in w.links.values())
                                           for w in ways])]
    lines = ["%-34s %14s %14s %7s" % ("", "straight", "merged", "ratio")]
    for name, (a, b) in rows:
        lines.append("%-34s %14s %14s %7.2f" % (name, thousands(a), thousands(b), b / a))
    return lines, {name: dict(zip(("straight", "merged"), pair)) for name, pair in rows}


# ---- the picture ----

STEP, LEFT, PANEL = 46, 24, 16 * 46 + 60
SWITCH_Y, SERVER_Y = (96, 424), 260
WIDEST = 14.0


def server_x(server):
    return LEFT + STEP / 2 + server * STEP + (server // 4) * 6


def switch_x(level, number):
    return server_x(number * 4 + 1) + STEP / 2 if level == 0 else \
        server_x(1) + STEP / 2 + number * 4.13 * STEP


def kilo(n):
    return "" if n < 1000 else "%.0fk" % (n / 1000) if n < 9.95e5 else "%.1fM" % (n / 1e6)


def draw_link(way, server, level, most):
    out, into = way.links[(server, level)]
    x, y = server_x(server), SERVER_Y + (-14 if level == 0 else 14)
    to_x = switch_x(level, server // 4 if level == 0 else server % 4)
    to_y = SWITCH_Y[level] + (12 if level == 0 else -12)
    heavy = max(out, into)
    used = heavy > 1000
    lines = ["<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='%s' stroke-width='%.1f'"
             " stroke-linecap='round'/>"
             % (x, y, to_x, to_y, "#1f77b4" if used else "#d0d0d0",
                max(1.0, WIDEST * heavy / most) if used else 0.7)]
    if used:
        lines.append("<text x='%.1f' y='%d' text-anchor='middle' font-size='10' stroke='#fff'"
                     " stroke-width='3' paint-order='stroke'>%s</text>"
                     % (x, y - 7 if level == 0 else y + 15, kilo(heavy)))
    return lines


def draw_server(way, server):
    colours = {"relay": "#f9d67a", "member": "#bcd9f2", "none": "#ffffff"}
    merges = server in way.parent and server in way.parent.values()
    colour = "#f4b6b6" if server == way.receiver else \
        "#f9d67a" if merges else colours[way.role[server]]
    return ["<rect x='%.1f' y='%d' width='34' height='28' rx='4' fill='%s' stroke='#333'"
            " stroke-width='%s'/>" % (server_x(server) - 17, SERVER_Y - 14, colour,
                                      "2" if server in way.says else "0.7"),
            "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>"
            % (server_x(server), SERVER_Y + 4, server)]


def draw_way(way, title, most, left):
    lines = ["<g transform='translate(%d,0)'>" % left,
             "<text x='%d' y='50' font-size='15'>%s</text>" % (LEFT, title),
             "<text x='%d' y='68'>payload over links %s bytes, at the receiver %s</text>"
             % (LEFT, thousands(way.payload_on_links()), thousands(way.payload_at_receiver()))]
    for level in (1, 0):
        for server in sorted(range(SERVERS), key=lambda s: max(way.links[(s, level)])):
            lines += draw_link(way, server, level, most)
    for level in (0, 1):
        for number in range(4):
            x = switch_x(level, number)
            lines += ["<rect x='%.1f' y='%d' width='64' height='24' fill='#eee' stroke='#333'/>"
                      % (x - 32, SWITCH_Y[level] - 12),
                      "<text x='%.1f' y='%d' text-anchor='middle'>level %d</text>"
                      % (x, SWITCH_Y[level] + 4, level)]
    for server in range(SERVERS):
        lines += draw_server(way, server)
    return lines + ["</g>"]


def picture(ways):
    most = max(max(map(max, w.links.values())) for w in ways)
    lines = ["<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='490'"
             " font-family='sans-serif' font-size='12'>" % (2 * PANEL + 20),
             "<rect width='100%' height='100%' fill='#fff'/>",
             "<text x='%d' y='24' font-size='16'>Words counted in a BCube(4,1): bytes on each link,"
             " in its busier direction, all packets</text>" % LEFT]
    for i, (way, (_, title)) in enumerate(zip(ways, WAYS)):
        lines += draw_way(way, title, most, i * (PANEL + 20))
    lines += ["<text x='%d' y='476'>red: receiver; yellow: sums what comes, and has words itself if"
              " its frame is bold; blue: has words</text>" % LEFT, "</svg>"]
    return "\n".join(lines) + "\n"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    folder, out = sys.argv[1:3]
    ways = [Way(folder, name) for name, _ in WAYS]
    words, distinct = words_of(os.path.join(folder, "right"))
    lines, numbers = table(ways)
    print("\n".join([""] + lines + [
        "", "senders: %d, relays: %d; %s words, %s of them distinct" % (
            len(ways[1].says), ways[1].relays(), thousands(words), thousands(distinct)),
        "both results are what tr, sort and uniq make of the texts"]))
    numbers["links"] = {w.name: {"server %d, level %d" % k: {"out": b[0], "in": b[1]}
                                 for k, b in sorted(w.links.items())} for w in ways}
    write(os.path.join(out, "aggregate.txt"), "\n".join(lines) + "\n")
    write(os.path.join(out, "aggregate.json"), json.dumps(numbers, indent=1) + "\n")
    write(os.path.join(out, "aggregate.svg"), picture(ways))


if __name__ == "__main__":
    main()
