"""Image servers that share nothing, behind haproxy and nginx."""

from case import check
from cluster import Cluster, ClusterCases, Load, PictureOrigin, ask_all, front, wait_until

CASES = ClusterCases()


def one_picture(program, kind):
    with Cluster(program, 2, PictureOrigin(delay=0.3)) as cluster:
        port = cluster.add(front(kind, cluster.folder, cluster.nodes)).port
        answers, failures = ask_all([(port, cluster.target("a.png"))] * 1000)
        bodies = {answer.body for answer in answers}
        check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        check(len(bodies) == 1, f"{len(bodies)} different answers")
        fetches, decodes = cluster.pictures.total, cluster.decodes()
        check((fetches, decodes) == (1, 1), f"{fetches} fetches, {decodes} decodes")
        return f"{len(answers)} requests, {fetches} fetch, {decodes} decode"


def all_sizes(program, kind):
    with Cluster(program, 2) as cluster:
        port = cluster.add(front(kind, cluster.folder, cluster.nodes)).port
        requests = [(port, cluster.target(f"{source}.png", options))
                    for source in range(40)
                    for options in ("w:50", "rs:fill:60:60/q:70", "h:40/bl:1")]
        # Another signature and another format are the same source, too.
        requests += [(port, "/other" + cluster.target(f"{source}.png")[2:] + "@webp")
                     for source in range(40)]
        answers, failures = ask_all(requests, threads=8)
        check(not failures, f"{len(failures)} failures, such as {failures[:1]}")
        check({answer.status for answer in answers} == {200}, "not all answers are 200")
        shares = [node.metric("halcyon_images_total") for node in cluster.nodes]
        fetches = cluster.pictures.total
        check(fetches == 40, f"{fetches} fetches for 40 sources")
        check(min(shares) > 0, "one node has done everything")
        return f"{len(answers)} pictures of 40 sources, {fetches} fetches, nodes made {shares}"


def killed_node(program, kind):
    with Cluster(program, 2) as cluster:
        port = cluster.add(front(kind, cluster.folder, cluster.nodes)).port

        def target(number):
            return cluster.target(f"{number % 50}.png", f"w:{20 + number % 40}")

        victim = cluster.nodes[0]
        with Load(port, target) as load:
            wait_until(lambda: load.answered > 300, what="load")
            victim.kill()
            killed_at = load.answered
            wait_until(lambda: load.answered > killed_at + 1000, seconds=60, what="load")
            victim.start()
            wait_until(lambda: victim.metric("halcyon_http_requests_total", route="processing")
                       > 20, what="the node's share")
        check(not load.failed, f"{len(load.failed)} failures, such as {load.failed[:2]}")
        return (f"{load.answered} requests answered, 0 failed, {load.cut} cut while their answer "
                f"was sent, slowest {load.slowest:.2f} s")


def ended_node(program, kind):
    with Cluster(program, 2, settings=["drain.delay=2"]) as cluster:
        port = cluster.add(front(kind, cluster.folder, cluster.nodes)).port
        with Load(port, lambda number: cluster.target(f"{number % 50}.png")) as load:
            wait_until(lambda: load.answered > 300, what="load")
            cluster.nodes[0].process.terminate()
            code = cluster.nodes[0].process.wait(30)
            rest = load.answered
            wait_until(lambda: load.answered > rest + 300, what="load")
        check(code == 0, f"the node ended with {code}")
        check(not load.failed and not load.cut, f"{len(load.failed)} failures, {load.cut} cut")
        return f"{load.answered} requests answered, 0 failed, slowest {load.slowest:.2f} s"


for number, front_kind in enumerate(("haproxy", "nginx")):
    for title, case, is_short in (
            ("one picture is fetched and made once", one_picture, True),
            ("all sizes of a source are made by one node", all_sizes, False),
            ("a node that is killed costs no request", killed_node, True),
            ("a node that is told to end costs no request", ended_node, False)):
        CASES.add(f"{front_kind}: {title}", [front_kind], is_short and number == 0)(
            lambda program, case=case, kind=front_kind: case(program, kind))
