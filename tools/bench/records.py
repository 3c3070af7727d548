# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of results: "BENCH case=NAME hosts=N ...", as the guest scripts print them."""


def records(path):
    """The values of each line, as a dictionary; what is a number is a float."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("BENCH "):
                continue
            values = {}
            for word in line.split()[1:]:
                key, _, value = word.partition("=")
                try:
                    values[key] = float(value)
                except ValueError:
                    values[key] = value
            yield values


def add(found, values):
    """The runs of its case and transport; found: (case, hosts, mtu) -> transport -> run -> values."""
    key = (values["case"], int(values["hosts"]), int(values["mtu"]))
    return found.setdefault(key, {}).setdefault(values["transport"], {})
