# shellcheck shell=bash
# What the scripts share that test a running halcyon-server. Sourced after setup.sh, never run. Whoever
# sources it has $root.

# Starts halcyon-server, of the folder that HALCYON_PROGRAMS names, else of the release build, else of the debug build,
# on ports of its own, with the arguments given, and waits until it is ready. Sets server (its process), port and
# operations_port.
start_server() {
    local folder program attempt status
    for folder in ${HALCYON_PROGRAMS:+"$HALCYON_PROGRAMS"} "$root"/.build/{release,debug}; do
        program=$folder/halcyon-server
        if [[ -x $program ]]; then break; fi
    done
    [[ -x $program ]] ||
        fail "There is no halcyon-server. Build it:" "    swift build --product halcyon-server"
    for attempt in 1 2 3; do
        read -r port operations_port < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))')
        "$program" --bind "127.0.0.1:$port" --ops-bind "127.0.0.1:$operations_port" \
            --log-level error "$@" >/dev/null &
        server=$!
        status=0
        wait_until_ready "$server" "$port" || status=$?
        if ((status == 0)); then return; fi
        # Where it has ended, somebody else may have been given one of the ports since they were found free.
        if ((status != 3 || attempt == 3)); then exit "$status"; fi
    done
}

# Waits until a server is ready, whose process and port are given; returns 3 when it ends before.
wait_until_ready() {
    python3 - "$@" <<'PYTHON'
import sys, time, urllib.request

process, port = sys.argv[1:]


def has_ended():
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5)
        sys.exit(0)
    except OSError:
        if has_ended():
            sys.exit(3)
        time.sleep(0.1)
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
        again "$python" -m pip install --quiet --disable-pip-version-check "$1==$2" >&2
        touch "$folder/ready"
    fi
}
