# SPDX-License-Identifier: GPL-2.0-or-later
"""What AlSader's text concludes from its tables, computed from what plans cost here."""

import coll_source as source
from coll_source import SIZES, log2_up

LARGE = (32, 32)


class Claim:
    """place: section of the source; text: what it says; ours: what was found; agrees: True,
    False, or "partly"; table: head and rows, or None.
    """

    def __init__(self, place, text, ours, agrees, table=None):
        self.place = place
        self.text = text
        self.ours = ours
        self.agrees = agrees
        self.table = table


VERDICTS = {True: "agrees", False: "differs", "partly": "agrees in part"}


def degree(all_of_it, part):
    return True if all_of_it else "partly" if part else False


class Table:
    """Measured costs by operation, the source's word for the pattern, metric and size.  Bruck's
    are those of its rule, and the source's ring of all-reduce is all-gather's.
    """

    def __init__(self, cells):
        self.cells = {(c.row.kind, c.row.word, c.metric, c.size): c.measured for c in cells}

    def get(self, kind, word, metric, size):
        if word == "Bruck":
            return dict(zip(source.METRICS, source.bruck(*size)))[metric]
        if word == "ring":
            kind = "all-gather"
        return self.cells[kind, word, metric, size]

    def ratio(self, kind, word, metric, size):
        """Of a pattern, to COOL-P-P."""
        return self.get(kind, word, metric, size) / self.get(kind, "COOL-P-P", metric, size)


OTHERS = [(row.kind, row.word) for row in source.ROWS if not row.word.startswith("COOL")]
PARALLEL = [row.kind for row in source.ROWS if row.word == "COOL-P-P"]


def span(values, digits=2):
    return "%.*f to %.*f" % (digits, min(values), digits, max(values))


def size_name(s):
    return "%d x %d" % s


def three_steps(t):
    steps = {t.get(kind, "COOL-P-P", "steps", s) for kind in PARALLEL for s in SIZES}
    cross = {t.get(kind, "COOL-P-P", "cross_steps", s) for kind in PARALLEL for s in SIZES}
    return Claim("4.4.1", "COOL-P-P takes three steps, one of them between racks, whatever the "
                 "operation.", "%d operations take %s steps, %s between racks, at all sizes."
                 % (len(PARALLEL), *(" or ".join(map(str, sorted(v))) for v in (steps, cross))),
                 steps == {3} and cross == {1})


def latency(t):
    """Abstract: by a factor of log N."""
    logs = [row for row in OTHERS if row[1] in ("binomial tree", "doubling")]
    rows, whole = [], True
    for s in SIZES:
        (steps,) = {t.ratio(*row, "steps", s) for row in logs}
        (cross,) = {t.ratio(*row, "cross_steps", s) for row in logs}
        whole &= steps >= log2_up(s[0] * s[1])
        rows.append([size_name(s), log2_up(s[0] * s[1]), "%.2f" % steps, "%.2f" % cross])
    return Claim("Abstract", "Latency is lower by a factor of log N.",
                 "Steps of a binomial tree, or of recursive doubling, for each of COOL-P-P are log "
                 "N / 3, and those between racks log r:", degree(whole, steps > 1),
                 (["Racks", "log N", "steps", "cross steps"], rows))


def fewer_messages(t):
    others = [row for row in OTHERS if row[1] != "binomial tree"]
    rows, whole, part = [], True, True
    for s in SIZES:
        n, log = s[0] * s[1], log2_up(s[0] * s[1])
        ratios = [t.ratio(*row, "messages", s) for row in others]
        whole &= log <= min(ratios) and max(ratios) <= n
        part &= log * s[0] / (s[0] + 1) <= min(ratios) + 1e-9 and max(ratios) <= n
        rows.append([size_name(s), log, "%.2f" % min(ratios), "%.2f" % max(ratios), n])
    return Claim("4.4.2", "Messages are fewer by a factor of log N to N than with all patterns but "
                 "binomial trees.", "COOL-P-P has N + r messages in all-reduce, so that the least "
                 "factor is %s k / (k + 1) log N:" % ("not below" if part else "not"),
                 degree(whole, part), (["Racks", "log N", "least", "most", "N"], rows))



def fewest_messages(t):
    more = [(kind, t.get(kind, "COOL-P-P", "cross_messages", LARGE)) for kind in PARALLEL]
    above = ["%s %d" % m for m in more if m[1] > LARGE[1] - 1]
    return Claim("4.4.2", "No operation of COOL-P-P has more than r - 1 messages between racks.",
                 "32 x 32, where r - 1 is 31: more in %s (multicasts)."
                 % (", ".join(above) or "none"), degree(not above, len(above) < len(more)))


def lower_load(t):
    rows, good, total, above, below = [], 0, 0, 0, set()
    for s in SIZES:
        row = [size_name(s)]
        for metric in ("links", "cross_links"):
            ratios = [t.ratio(*other, metric, s) for other in OTHERS]
            reach, more = (sum(v >= least for v in ratios) for least in (2, s[0] + 1e-9))
            below |= {other[1] for other, v in zip(OTHERS, ratios) if v < 2}
            row += [span(ratios), reach, more]
            good, total, above = good + reach, total + len(ratios), above + more
        rows.append(row)
    return Claim("4.4.3", "The load of the network is lower by a factor of 2 to k in most cases, "
                 "in all and between racks.", "%d of %d factors are at least 2, %d of these more "
                 "than k; below 2 are some of: %s. Factors of the %d other patterns:"
                 % (good, total, above, ", ".join(sorted(below)), len(OTHERS)),
                 degree(good == total and not above, good > total / 2),
                 (["Racks", "all links", "2 or more", "above k", "core links", "2 or more",
                   "above k"], rows))


def broadcast_load(t):
    ratios = [[t.ratio("broadcast", "binomial tree", m, s) for m in ("links", "cross_links")]
              for s in SIZES]
    rows = [[size_name(s), "%.2f" % links, "%.2f" % core]
            for s, (links, core) in zip(SIZES, ratios)]
    return Claim("4.4.3", "A binomial tree doubles the load of the network in a broadcast.",
                 "Nearly so with many members and racks:",
                 degree(all(abs(v - 2) < 0.1 for pair in ratios for v in pair),
                        all(abs(v - 2) < 0.1 for v in ratios[-1])),
                 (["Racks", "all links", "core links"], rows))



def leaders(t):
    worst = {s: max(t.get(kind, "COOL-P-P", "leader_load", s) for kind in PARALLEL) for s in SIZES}
    text = "; ".join("%s: %d" % (size_name(s), worst[s]) for s in SIZES)
    return Claim("4.4.4", "No leader has more than k or r messages in a step: 32 with 32 x 32.",
                 "Most are " + text + ".", all(worst[s] <= max(s) for s in SIZES))


def flexible(costs):
    """B-R against P-P, by the number of racks."""
    rows, lower, formula = [], [], True
    for r in (2, 4, 8, 16, 32):
        of = [costs.of("all-reduce", p, 4, r, 0) for p in ("cool-p-p", "cool-b-r")]
        total, core = (of[0][m] / of[1][m] for m in ("links", "cross_links"))
        formula &= abs(core - r / (2 * log2_up(r))) < 1e-9
        if total > 1 and core > 1:
            lower.append(r)
        rows.append([size_name((4, r)), "%.2f" % total, "%.2f" % core])
    return Claim("4.5", "COOL-B-R loads links less than COOL-P-P, those to the core by a factor "
                 "of r / (2 log r).", "The factor is %s; the load is lower only with %s racks:"
                 % ("that" if formula else "another", ", ".join(map(str, lower))),
                 degree(formula and len(lower) == len(rows), formula and lower),
                 (["Racks", "all links", "core links"], rows))



def claims(costs, cells):
    t = Table(cells)
    return [three_steps(t), latency(t), fewer_messages(t), fewest_messages(t), lower_load(t),
            broadcast_load(t), leaders(t), flexible(costs)]


def ranking(costs, table):
    """What a binomial tree sends between racks depends on where its root is."""
    lines = []
    for k, r in SIZES:
        # a root in another rack is the same: places are counted from the root
        tree = [costs.all_of(k, r, root, "reduce --pattern tree")["reduce", "tree"]
                ["cross_messages"] for root in range(k)]
        cool = {costs.all_of(k, r, root, "reduce --pattern cool-p-p")["reduce", "cool-p-p"]
                ["cross_messages"] for root in (0, 1, k, k * r - 1)}
        far = source.binomial_far_first(k, r)
        lines.append(["%d x %d" % (k, r), *sorted(cool), tree[0], max(tree), far])
    return table(["Racks", "COOL-P-P", "tree, root first", "tree, worst root", "far half first"],
                 lines)


def all_reduces(costs, table):
    """COOL's own operations, one behind the other; roots are leaders."""
    metrics, lines = ("steps", "links", "cross_links"), []
    for k, r in SIZES:
        def cost(kind, k=k, r=r):
            return [costs.of(kind, "cool-p-p", k, r, 0)[m] for m in metrics]
        both = [a + b for a, b in zip(cost("reduce"), cost("broadcast"))]
        lines.append(["%d x %d" % (k, r)] + cost("all-reduce") + both)
    names = ["steps", "links", "core links"]
    return table(["Racks"] + names + ["both: " + name for name in names], lines)


class Forms:
    """How titles, tables and paragraphs are written."""

    def __init__(self, title, table, wrap):
        self.title = title
        self.table = table
        self.wrap = wrap


def chapter(costs, cells, forms):
    out = forms.title("What the source concludes", "=")
    for c in claims(costs, cells):
        place = "Section " + c.place if c.place[0].isdigit() else c.place
        text = "Verdict: **%s**." % VERDICTS[c.agrees]
        out += forms.wrap("*%s.* %s" % (place, c.text))
        if c.table:
            out += forms.wrap("Here: " + c.ours) + forms.table(*c.table) + forms.wrap(text)
        else:
            out += forms.wrap("Here: %s %s" % (c.ours, text))
    out += forms.title("Where ranks are", "=")
    out += forms.wrap("The source gives every pattern the ranks that suit it best. The module "
                      "counts members rack by rack, and its trees join neighbours first, so that "
                      "r - 1 messages cross as in the source's best case; but only with the first "
                      "member of a rack as the root. In the order of the source's text, the far "
                      "half first, N - k cross where ranks are counted rack by rack. COOL-P-P has "
                      "r - 1 wherever the root is. Messages between racks of a reduction:")
    out += ranking(costs, forms.table)
    out += forms.title("What all-reduce could save", "=")
    out += forms.wrap("Not in the source: its all-reduce and all-gather have every leader tell all "
                      "others, r\u00b2 packets on core links. COOL's reduction and its broadcast, "
                      "one behind the other (*both*) with a leader as the root, have 3 r - 2 "
                      "packets there, and two steps more, of which one is empty:")
    return out + all_reduces(costs, forms.table)
