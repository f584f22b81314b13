"""The pictures that are asked for."""

# So many requests until a list begins anew. 89 has no divisor in common with it.
STEPS, STRIDE = 200, 89


class Row:
    """A source, or several, to be made about 500 pixels wide.

    - Parameters:
        files: of the folder with pictures; several are walked at a width of 200.
        result: the format of what is made.
        is_remote: whether the source is at another server.
        target: the least that Halcyon is to make for each one that thumbor makes.
        quality: Halcyon's and that of libvips alone, where it is not the one that all have.
    """

    def __init__(self, name, files, result, is_remote=False, target=None, quality=None):
        self.name, self.result, self.is_remote, self.target = name, result, is_remote, target
        self.quality = quality
        self.files = [files] if isinstance(files, str) else files
        self.converts = not self.files[0].endswith("." + result)

    def steps(self):
        """(width, file) of each request. Widths are mixed, so that each part of a list costs the same."""
        if len(self.files) > 1:
            return [(200, file) for file in self.files]
        return [(400 + STRIDE * number % STEPS, self.files[0]) for number in range(STEPS)]

    def targets(self, server, origin):
        return [self.target_of(server, origin, number, width, file)
                for number, (width, file) in enumerate(self.steps())]

    def sample(self):
        """The width and file that quality is looked at with."""
        return (500 if len(self.files) == 1 else 200), self.files[0]

    def target_of(self, server, origin, number, width, file):
        # A number for each, as one URL would measure how a source is shared.
        url = origin.url(number, file) if self.is_remote else None
        return server.target(self, width, file, url)


SMALL = [f"small/{number}.jpg" for number in range(STEPS)]

ROWS = [
    Row("12 MP JPEG", "12mp.jpg", "jpg", target=1.5),
    Row("3 MP JPEG", "3mp.jpg", "jpg", target=1.5),
    Row("24 MP JPEG", "24mp.jpg", "jpg"),
    Row("12 MP progressive JPEG", "12mp-progressive.jpg", "jpg", target=1.5),
    Row("200 JPEGs of 20 KB", SMALL, "jpg"),
    Row("1.3 MP PNG", "1.3mp.png", "png", target=2),
    Row("3 MP WebP", "3mp.webp", "webp", target=1.7),
    Row("2 MP AVIF", "2mp.avif", "avif"),
    Row("GIF, 22 frames", "22-frames.gif", "gif", target=3),
    Row("GIF, 44 frames", "44-frames.gif", "gif", target=3),
    Row("3 MP JPEG → WebP", "3mp.jpg", "webp"),
    Row("3 MP JPEG → AVIF", "3mp.jpg", "avif"),
    Row("3 MP JPEG → AVIF, no larger", "3mp.jpg", "avif", target=3, quality=57),
    Row("3 MP JPEG of another server", "3mp.jpg", "jpg", is_remote=True),
]
# What a short trial asks for.
TRIAL = {"3 MP JPEG"}
