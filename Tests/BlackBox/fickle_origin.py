"""A server of pictures that does all that servers do wrong, by the path that is asked for."""

import gzip
import pathlib
import random
import time

from drawing import png

KINDS = ["good", "tagged", "flapping", "damaged", "cut", "short", "long", "reset", "garbage", "trickle",
         "hang", "endless", "status", "loop", "away", "headers", "html", "bomb", "empty", "part",
         "unasked", "informational", "stored"]


class FickleOrigin:
    """`pictures` are files; their bytes are answered, if anything is."""

    def __init__(self, pictures):
        files = [pathlib.Path(path).read_bytes() for path in pictures]
        self.bodies = [body for body in files if len(body) < 400_000] + [png(60, 40, seed=4)]

    @staticmethod
    def paths():
        return [f"/{kind}/{number}.png" for kind in KINDS for number in range(12)]

    def __call__(self, connection):
        while request := connection.request():
            path, fields = request
            parts = path.split("/")
            kind = parts[1] if len(parts) > 1 else ""
            digits = "".join(filter(str.isdigit, parts[-1]))
            number = int(digits or 0)
            chance = random.Random(number)
            body = self.bodies[number % len(self.bodies)]
            if not self.answer(connection, kind, number, chance, body, fields):
                return

    def answer(self, connection, kind, number, chance, body, fields):
        """Whether the connection goes on."""
        match kind:
            case "good":
                connection.answer(body)
            case "tagged":
                if fields.get("if-none-match") == f'"{number}"':
                    connection.send(f'HTTP/1.1 304 Not Modified\r\nETag: "{number}"\r\n\r\n')
                else:
                    connection.answer(body, fields=[f'ETag: "{number}"', "Cache-Control: max-age=1"])
            case "flapping":
                turn = int(time.time() * 5) % 2
                connection.answer(self.bodies[(number + turn) % len(self.bodies)],
                                  fields=[f'ETag: "{turn}"', "Cache-Control: no-cache"])
            case "stored":
                connection.answer(body, fields=["Cache-Control: " + chance.choice(
                    ["no-store", "private", "max-age=0", "s-maxage=nonsense", "max-age=" + "9" * 30]),
                    "Vary: " + chance.choice(["Accept", "*", "Cookie"])])
            case "damaged":
                spoilt = bytearray(body)
                for _ in range(20):
                    spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
                connection.answer(bytes(spoilt))
            case "cut":
                connection.answer(body[:max(1, chance.randrange(len(body)))])
            case "short":
                connection.answer(body[:-10], length=len(body))
                return False
            case "long":
                connection.answer(body + body, length=len(body))
                return False
            case "reset":
                connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n", body[:1000])
                connection.reset()
                return False
            case "garbage":
                connection.send(bytes(chance.randrange(256) for _ in range(500)))
                return False
            case "trickle":
                connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n")
                for byte in body[:40]:
                    connection.send(bytes([byte]))
                    time.sleep(0.1)
                return False
            case "hang":
                time.sleep(chance.choice([0.5, 2, 6]))
                if number % 2:
                    connection.answer(body)
                return False
            case "endless":
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.send(f"{len(body):x}\r\n", body, "\r\n")
                while True:
                    connection.send("10000\r\n", bytes(65536), "\r\n")
            case "status":
                status = [400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 204][number % 12]
                connection.answer(b"no", f"{status} Some", ["Retry-After: 1"])
            case "loop":
                connection.answer(status="302 Found", fields=[f"Location: /loop/{number}.png"])
            case "away":
                place = ["http://169.254.169.254/", "file:///etc/passwd", "//", "https://127.0.0.1:1/",
                         f"/good/{number}.png", "http://[::1]/", "\r\nX: y", ""][number % 8]
                connection.answer(status="301 Moved", fields=[f"Location: {place}"])
            case "headers":
                connection.send("HTTP/1.1 200 OK\r\n" + "".join(
                    f"X-{n}: {'a' * 8000}\r\n" for n in range(50)) + "Content-Length: 0\r\n\r\n")
                return False
            case "html":
                connection.answer(b"<html><script>alert(1)</script>", fields=["Content-Type: image/png"])
            case "bomb":
                connection.answer(gzip.compress(bytes(30_000_000)), fields=["Content-Encoding: gzip"])
            case "empty":
                connection.answer(b"")
            case "part":
                connection.answer(body[:100], "206 Partial Content",
                                  [f"Content-Range: bytes 0-99/{len(body)}"])
            case "unasked":
                connection.send("HTTP/1.1 304 Not Modified\r\n\r\n")
            case "informational":
                for _ in range(50):
                    connection.send("HTTP/1.1 102 Processing\r\n\r\n")
                connection.answer(body)
            case _:
                connection.answer(b"nothing", "404 Not Found")
        return True
