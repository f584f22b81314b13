"""Requests by wrk over several connections at once, each with the time at which it began and ended."""

import pathlib
import shutil
import signal
import subprocess
import tempfile
from typing import NamedTuple

from case import check

CONNECTIONS = 8

# One connection for each thread of wrk, so that a request and the next answer belong together. A request whose
# answer broke off or never came is followed by another one without an answer between them.
WALK = """
local ffi = require("ffi")
ffi.cdef[[
typedef struct { long seconds, nanoseconds; } moment;
int clock_gettime(int clock, moment *now);
]]
local moment = ffi.new("moment")

local function now()
    ffi.C.clock_gettime(1, moment)
    return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

function init(arguments)
    file = io.open(arguments[1] .. "/" .. number .. ".log", "w")
    file:setvbuf("line")
    templates = {}
    for line in io.lines(arguments[1] .. "/templates") do templates[#templates + 1] = line end
    count, began = 0, nil
end

local function note(status)
    if began then file:write(string.format("%.6f %.6f %d\\n", began, now(), status)) end
    began = nil
end

function request()
    note(0)
    count = count + 1
    local place = count + number * 1000003
    local target = templates[place % #templates + 1]:gsub("NUMBER", tostring(place))
    -- The first request of the first thread wrk only looks at.
    if number > 0 or count > 1 then began = now() end
    return wrk.format("GET", target)
end

function response(status)
    note(status)
end
"""


class Request(NamedTuple):
    # By time.monotonic().
    began: float
    ended: float
    # 0 when there was no whole answer.
    status: int

    @property
    def seconds(self):
        return self.ended - self.began


class TimedLoad:
    """Requests for targets in turn, in which NUMBER is another number each time, until the end of the block."""

    def __init__(self, host, port, templates):
        self.host, self.port, self.templates = host, port, templates
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="halcyon-load-"))
        self.of_threads = [[] for _ in range(CONNECTIONS)]

    def __enter__(self):
        (self.folder / "templates").write_text("\n".join(self.templates) + "\n")
        (self.folder / "walk.lua").write_text(WALK)
        self.worker = subprocess.Popen(
            ["wrk", "-t", str(CONNECTIONS), "-c", str(CONNECTIONS), "-d", "1h",
             "--timeout", "60s", "-s", "walk.lua", f"http://{self.host}:{self.port}", "--",
             str(self.folder)],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.worker.send_signal(signal.SIGINT)
        self.worker.wait()
        self.of_threads = [self.read(number) for number in range(CONNECTIONS)]
        shutil.rmtree(self.folder)

    def read(self, number):
        lines = (self.folder / f"{number}.log").read_text().splitlines()
        fields = (line.split() for line in lines)
        return [Request(float(began), float(ended), int(status)) for began, ended, status in fields]

    @property
    def requests(self):
        """All of them, after the block. That none was waiting at the end in vain is checked."""
        end = max(requests[-1].ended for requests in self.of_threads if requests)
        for number, requests in enumerate(self.of_threads):
            check(requests and requests[-1].ended > end - 2,
                  f"connection {number} of the load was still waiting at the end")
        return sorted(request for requests in self.of_threads for request in requests)
