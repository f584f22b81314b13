"""How good a server's picture is, so that like is compared with like."""

import functools
import http.client
import io

import numpy
from PIL import Image
from reference import similarity, thumbnail


# All servers of a row are compared with the same one.
exact_picture = functools.lru_cache(maxsize=2)(thumbnail)


def get(server, target, fields=()):
    """One answer: its status, header fields and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", target, headers=dict(fields))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


class Sample:
    """The bytes of one picture, its frames, and its likeness to the exact one (SSIM; the first frame's)."""

    FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP", "avif": "AVIF", "gif": "GIF"}

    def __init__(self, data, row, pictures):
        width, file = row.sample()
        self.bytes = len(data)
        with Image.open(io.BytesIO(data)) as image:
            if image.format != self.FORMATS[row.result] or image.width != width:
                raise RuntimeError(f"a picture is {image.format}, {image.width} pixels wide")
            self.frames = getattr(image, "n_frames", 1)
            pixels = numpy.asarray(image.convert("RGB"), dtype=numpy.float64)
        exact = exact_picture(pictures / file, image.width, image.height)
        self.similarity = similarity(exact, pixels)

    @classmethod
    def of(cls, server, row, origin, pictures):
        if hasattr(server, "sample"):
            return cls(server.sample(row, *row.sample()), row, pictures)
        target = row.target_of(server, origin, 0, *row.sample())
        status, _, body = get(server, target)
        if status != 200:
            raise RuntimeError(f"{server.name}: status {status} for {target}: {body[:200]!r}")
        return cls(body, row, pictures)
