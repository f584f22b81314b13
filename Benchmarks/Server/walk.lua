-- Lets wrk ask for the targets of a list, one after the other and again from its beginning, and prints what
-- came of it as the last line.
-- Arguments: the file with the list, "close" or "keep", header fields as "NAME: VALUE".

local requests = {}
local last = 0

function init(args)
   wrk.headers["Connection"] = args[2] == "close" and "close" or nil
   for index = 3, #args do
      local name, value = args[index]:match("^([^:]+): (.*)$")
      wrk.headers[name] = value
   end
   for target in io.lines(args[1]) do
      requests[#requests + 1] = wrk.format("GET", target)
   end
end

function request()
   last = last % #requests + 1
   return requests[last]
end

function done(summary, latency)
   local errors = summary.errors
   print(string.format(
      '{"answers": %d, "seconds": %f, "statuses": %d, "failures": %d, "p50": %f, "p95": %f, "p99": %f}',
      summary.requests, summary.duration / 1e6, errors.status,
      errors.connect + errors.read + errors.write + errors.timeout,
      latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3))
end
