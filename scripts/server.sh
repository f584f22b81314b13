# shellcheck shell=bash
# What the scripts share that test a running halcyon-server. Sourced after setup.sh, never run. Whoever
# sources it has $root.

# Starts the halcyon-server that was built last on ports of its own, with the arguments given, and waits until
# it is ready. Sets server (its process), port and operations_port.
start_server() {
    local program
    program=$(find "$root"/.build/{debug,release}/halcyon-server -printf '%T@ %p\n' 2>/dev/null |
        sort -n | tail -n 1 | cut -d ' ' -f 2-) || true
    [[ -n $program ]] ||
        fail "There is no halcyon-server. Build it:" "    swift build --product halcyon-server"
    read -r port operations_port < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))')
    "$program" --bind "127.0.0.1:$port" --ops-bind "127.0.0.1:$operations_port" \
        --log-level error "$@" >/dev/null &
    server=$!
    python3 - "$port" <<'PYTHON'
import sys, time, urllib.request

for _ in range(300):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/ready", timeout=5)
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit("The server does not get ready.")
PYTHON
}

# Sets python to that of an environment in .build that has a package of PyPI, of exactly this version.
require_python_package() {
    local folder="$root/.build/python-$1-$2"
    python="$folder/bin/python"
    if [[ ! -f $folder/ready ]]; then
        say "Installing $1 $2"
        python3 -m venv --clear "$folder"
        "$python" -m pip install --quiet --disable-pip-version-check "$1==$2" >&2
        touch "$folder/ready"
    fi
}
