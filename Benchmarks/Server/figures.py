"""Medians with their ranges, and tables of them."""

import statistics


class Figure:
    """The median of some samples, with the least and the greatest."""

    def __init__(self, samples):
        self.median = statistics.median(samples)
        self.least, self.greatest = min(samples), max(samples)

    def text(self, factor=1):
        median, least, greatest = (number(value * factor)
                                   for value in (self.median, self.least, self.greatest))
        return f"{median} ({least}…{greatest})"


def number(value):
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def short(figure, factor=1):
    return "–" if figure is None else number(figure.median * factor)


def ratio(figure, other):
    """How many times as much the first one is."""
    return f"×{figure.median / other.median:.2f}"


class Goal:
    """What is to be reached, and whether it is: at least `least`, or at most `most`."""

    def __init__(self, name, measured, least=None, most=None):
        self.name, self.measured, self.least, self.most = name, measured, least, most

    @property
    def is_reached(self):
        return self.measured >= self.least if self.most is None else self.measured <= self.most

    def cells(self):
        limit = f"≤ {self.most:,g}" if self.least is None else f"≥ {self.least:,g}"
        return [self.name, number(self.measured), limit, "yes" if self.is_reached else "no"]


def goals(rows):
    """A table of goals; no lines without any."""
    return table(["target", "measured", "to reach", "reached"], [goal.cells() for goal in rows]) if rows else []


def table(heads, rows):
    """The lines of a Markdown table."""
    return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads),
            *("| " + " | ".join(row) + " |" for row in rows)]
