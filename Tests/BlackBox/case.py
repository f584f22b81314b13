"""One row of the table: something hostile, what is expected of the program, and what it did."""

MEBIBYTE = 1 << 20


class Failed(Exception):
    """The program did something else than is expected."""


class Case:
    def __init__(self, name, expected, body, seconds=15, memory=320):
        self.name, self.expected, self.body = name, expected, body
        # How long one run may take, and the most memory in MiB.
        self.seconds, self.memory = seconds, memory


class Skipped(Exception):
    """It cannot be tried on this machine."""


class Cases:
    """A list of cases, filled by a decorator."""

    def __init__(self):
        self.all = []

    def add(self, name, expected, **limits):
        def register(body):
            self.all.append(Case(name, expected, body, **limits))
            return body
        return register


def check(condition, text):
    if not condition:
        raise Failed(text)


def fails(outcome, *words, code=None):
    """The program says of its one source that it failed, with one of these words in the message."""
    check(outcome.errors, f"no error: {outcome.summary}")
    check(outcome.code == 1, f"exit code {outcome.code}")
    error = outcome.errors[0]
    check(code is None or error["code"] == code, outcome.summary)
    if words:
        check(any(word.lower() in error["message"].lower() for word in words), outcome.summary)


def loads(outcome, count=1):
    check(len(outcome.loaded) == count and not outcome.errors, outcome.summary)
    check(outcome.code == 0, f"exit code {outcome.code}")


def survives(outcome):
    """It ends by itself, one way or the other."""
    check(outcome.code in (0, 1), outcome.summary)
    # What is refused has to be there: no case asks for a file that is not.
    check("There is no file" not in outcome.out + outcome.err, outcome.summary)
