# SPDX-License-Identifier: GPL-2.0-or-later
"""Small line charts as SVG: panels side by side, lines with bands, a legend."""

COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b",
           "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"]
PANEL_W, PANEL_H = 300, 200
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 26, 40
FULL = 100	# runs from which on percentiles are drawn, and compared
FONT = "font-family='sans-serif' font-size='11'"


class Line:
    """A curve: points (x, y), each of so many runs, and (x, low, high) for its band of
    percentiles, which too few runs do not get.
    """

    def __init__(self, label, points, runs=1, band=(), dashed=False, colour=None):
        self.label = label
        self.points = points
        self.runs = runs
        self.band = list(band) if runs >= FULL else []
        self.dashed = dashed
        self.colour = colour


class Panel:
    """One pair of axes; y limits that are None follow the data."""

    def __init__(self, title, xlabel, ylabel, lines, ymin=None, ymax=None):
        self.title = title
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.lines = lines
        self.ymin = ymin
        self.ymax = ymax


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def ticks(low, high, most=6):
    """Round numbers from low to high, not more than most."""
    span = high - low
    if span <= 0:
        return [low]
    step = 10.0 ** -9
    while span / step > most:
        for factor in (2, 2.5, 2):
            step *= factor
            if span / step <= most:
                break
    first = -(-low // step) * step
    out = []
    while first <= high + step * 1e-6:
        out.append(0.0 if abs(first) < step * 1e-6 else first)
        first += step
    return out


def limits(panel):
    xs = [p[0] for l in panel.lines for p in l.points]
    ys = [p[1] for l in panel.lines for p in l.points]
    ys += [v for l in panel.lines for b in l.band for v in b[1:]]
    x0, x1 = (min(xs), max(xs)) if xs else (0.0, 1.0)
    y0, y1 = (min(ys), max(ys)) if ys else (0.0, 1.0)
    y0 = y0 if panel.ymin is None else panel.ymin
    y1 = y1 if panel.ymax is None else panel.ymax
    if x1 <= x0:
        x1 = x0 + 1
    if y1 <= y0:
        y1 = y0 + 1
    margin = (y1 - y0) * 0.04
    return (x0, x1, y0 if panel.ymin is not None else y0 - margin,
            y1 if panel.ymax is not None else y1 + margin)


def draw_panel(panel, left, top):
    x0, x1, y0, y1 = limits(panel)
    out = []

    def px(x):
        return left + (x - x0) / (x1 - x0) * PANEL_W

    def py(y):
        y = min(max(y, y0), y1)
        return top + PANEL_H - (y - y0) / (y1 - y0) * PANEL_H

    def path(points):
        return " ".join("%.1f,%.1f" % (px(x), py(y)) for x, y in points)

    out.append("<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#888'/>"
               % (left, top, PANEL_W, PANEL_H))
    for x in ticks(x0, x1):
        out.append("<text x='%.1f' y='%d' text-anchor='middle'>%g</text>"
                   % (px(x), top + PANEL_H + 14, round(x, 9)))
    for y in ticks(y0, y1):
        out.append("<path d='M%d %.1fh%d' stroke='#ddd'/>" % (left, py(y), PANEL_W))
        out.append("<text x='%d' y='%.1f' text-anchor='end'>%g</text>"
                   % (left - 4, py(y) + 4, round(y, 9)))
    out.append("<text x='%.1f' y='%d' text-anchor='middle'>%s</text>"
               % (left + PANEL_W / 2, top + PANEL_H + 30, escape(panel.xlabel)))
    out.append("<text x='%.1f' y='%d' text-anchor='middle'>%s</text>"
               % (left + PANEL_W / 2, top - 8, escape(panel.title)))
    out.append("<text transform='translate(%d,%.1f) rotate(-90)' text-anchor='middle'>%s</text>"
               % (left - 38, top + PANEL_H / 2, escape(panel.ylabel)))
    for i, line in enumerate(panel.lines):
        colour = line.colour or COLOURS[i % len(COLOURS)]
        if line.band:
            outline = [(b[0], b[1]) for b in line.band]
            outline += [(b[0], b[2]) for b in reversed(line.band)]
            out.append("<polygon points='%s' fill='%s' fill-opacity='.15'/>"
                       % (path(outline), colour))
        dash = " stroke-dasharray='4 3'" if line.dashed else ""
        out.append("<polyline points='%s' fill='none' stroke='%s' stroke-width='1.5'%s/>"
                   % (path(line.points), colour, dash))
    return out


def legend(panels):
    """Labels of all panels, each once, with the colour that it has."""
    seen = []
    for panel in panels:
        for i, line in enumerate(panel.lines):
            entry = (line.label, line.colour or COLOURS[i % len(COLOURS)], line.dashed)
            if line.label and entry not in seen:
                seen.append(entry)
    return seen


def render(panels, columns=3):
    """The SVG text of some panels."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    cell_w = LEFT + PANEL_W + RIGHT
    cell_h = TOP + PANEL_H + BOTTOM
    width = columns * cell_w
    entries = legend(panels)
    body = []
    x, y = LEFT, rows * cell_h + 14
    for label, colour, dashed in entries:
        need = 34 + 6.2 * len(label)
        if x + need > width and x > LEFT:
            x, y = LEFT, y + 16
        dash = " stroke-dasharray='4 3'" if dashed else ""
        body.append("<path d='M%.0f %dh20' stroke='%s' stroke-width='2'%s/>"
                    % (x, y - 4, colour, dash))
        body.append("<text x='%.0f' y='%d'>%s</text>" % (x + 24, y, escape(label)))
        x += need
    for i, panel in enumerate(panels):
        body += draw_panel(panel, LEFT + i % columns * cell_w, TOP + i // columns * cell_h)
    head = ("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "viewBox='0 0 %d %d' %s>" % (width, y + 10, width, y + 10, FONT))
    return "\n".join([head, "<rect width='100%' height='100%' fill='white'/>"] + body
                     + ["</svg>", ""])
