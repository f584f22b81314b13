"""URLs of the image server by chance: such as it takes, such as it nearly takes, and hostile ones."""

import base64
import urllib.parse

FORMATS = ["jpg", "png", "webp", "gif", "tiff", "avif", "bmp", "ico", "svg", "heic", "jxl", "exe", ""]
GRAVITIES = ["ce", "no", "soea", "nowe:10:20", "fp:0.25:0.75", "sm", "ea:0.1:0", "fp:2:2", "ob", ""]
ODD_NUMBERS = ["-1", "0", "1e9", "1e308", "nan", "inf", "2147483647", "9" * 400, "0.5", "", "abc",
               "1.5.1", "+3", "٣"]
ODD_SOURCES = [
    "local:///../etc/passwd", "local:///%2e%2e%2fetc%2fpasswd", "local:///..%5cetc", "local:///",
    "local:///.hidden", "local:////china.jpg", "file:///etc/passwd", "ftp://127.0.0.1/a.png",
    "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://2130706433/", "http://127.1/",
    "http://user@127.0.0.1/", "http://localhost.:22/", "data:image/png;base64,AAAA", "s3://bucket/key",
    "http://", "http:///", "//", "javascript:alert(1)", "a" * 3000, "http://xn--/", "local:/china.jpg"]
SHORT_KEYS = ["w", "h", "fit", "q", "f", "format", "dpr", "g", "gravity", "blur", "sharpen", "rotate",
              "bg", "x"]
INFO = ["s", "f", "d", "pn", "animation", "a", "dc", "th", "dhash", "phash", "exif", "cs", "nothing"]


class URLs:
    """Makes one target after the other.

    `origin` is where pictures come from, `paths` what there is, `files` the local pictures.
    """

    def __init__(self, random, origin, paths, files):
        self.random, self.origin, self.paths, self.files = random, origin, paths, files

    def number(self, most=400):
        if self.random.random() < 0.06:
            return self.random.choice(ODD_NUMBERS)
        return str(self.random.randint(0, most))

    def option(self):
        number, pick = self.number, self.random.choice
        flag = pick(["0", "1", "t", "f", "2", ""])
        return pick([
            lambda: f"rs:{pick(['fit', 'fill', 'fill-down', 'force', 'auto', 'x'])}:{number()}:{number()}"
                    f":{flag}:{pick(['0', '1'])}",
            lambda: f"w:{number()}", lambda: f"h:{number()}", lambda: f"s:{number()}:{number()}",
            lambda: f"mw:{number()}", lambda: f"mh:{number()}",
            lambda: f"z:{pick(['0.5', '2', number(5)])}", lambda: f"dpr:{pick(['1.5', '2', number(9)])}",
            lambda: f"el:{flag}", lambda: f"ex:{flag}:{pick(GRAVITIES)}", lambda: f"exar:{flag}",
            lambda: f"g:{pick(GRAVITIES)}", lambda: f"c:{number()}:{number()}:{pick(GRAVITIES)}",
            lambda: f"c:0.{number(99)}:0.{number(99)}", lambda: f"t:{number(50)}:{pick(['', 'ffffff'])}",
            lambda: f"pd:{number(60)}:{number(60)}", lambda: f"rot:{pick(['0', '90', '180', '-90', '45'])}",
            lambda: f"fl:{flag}:{flag}", lambda: f"bg:{pick(['255:0:0', 'abc', 'zzz', '', '300:1:1'])}",
            lambda: f"bl:{number(20)}", lambda: f"sh:{number(5)}", lambda: f"pix:{number(40)}",
            lambda: f"wm:0.5:{pick(['ce', 're', 'no', 'ch'])}:{number(30)}:{number(30)}:0.2",
            lambda: f"sm:{flag}", lambda: f"kcr:{flag}", lambda: f"scp:{flag}", lambda: f"ar:{flag}",
            lambda: f"ph:{flag}", lambda: f"q:{number(100)}", lambda: f"fq:webp:{number(100)}",
            lambda: f"mb:{number(20000)}", lambda: f"f:{pick(FORMATS)}",
            lambda: f"skp:{pick(FORMATS)}:{pick(FORMATS)}", lambda: f"raw:{flag}",
            lambda: f"cb:{number(9)}", lambda: f"exp:{pick(['4102444800', '1', number()])}",
            lambda: f"fn:{pick(['a b', '%22', 'x' * 300, '%0d%0aX: y'])}", lambda: f"att:{flag}",
            lambda: f"pr:{pick(['small', 'loop', 'unknown', ''])}", lambda: f"msr:{number(100)}",
            lambda: f"msfs:{number(100000)}", lambda: f"maf:{number(9)}", lambda: f"mrd:{number(2000)}",
            lambda: f"eth:{flag}", lambda: f"{pick(['br', 'ra', 'pg', 'nothing', ''])}:{number()}",
            lambda: "w:" + ":".join(["1"] * 1000),
        ])()

    def options(self, most=5):
        count = 45 if self.random.random() < 0.01 else self.random.randint(0, most)
        return [self.option() for _ in range(count)]

    def source(self):
        chance = self.random.random()
        if chance < 0.35:
            return "local:///" + self.random.choice(self.files)
        if chance < 0.9:
            return self.origin + self.random.choice(self.paths)
        return self.random.choice(ODD_SOURCES)

    def named(self, source):
        """The end of a target that names a source."""
        ending = self.random.choice(FORMATS) if self.random.random() < 0.4 else ""
        if self.random.random() < 0.6:
            escaped = urllib.parse.quote(source, safe="/:" if self.random.random() < 0.7 else "")
            return ["plain", escaped + (f"@{ending}" if ending else "")]
        text = base64.urlsafe_b64encode(source.encode()).decode()
        if self.random.random() < 0.7:
            text = text.rstrip("=")
        cut = self.random.randint(1, len(text))
        return [part for part in (text[:cut], text[cut:]) if part][:-1] + [
            (text[cut:] or text[:cut]) + (f".{ending}" if ending else "")]

    def processing(self):
        return "/_/" + "/".join(self.options() + self.named(self.source()))

    def info(self):
        chosen = [f"{self.random.choice(INFO)}:{self.random.choice('10')}"
                  for _ in range(self.random.randint(0, 4))]
        extra = self.random.choice([[], ["p:5"], ["bh:4:3"], ["bh:::"], ["h:sha256"], ["p:999"]])
        return "/info/_/" + "/".join(chosen + extra + self.named(self.source()))

    def short(self):
        if self.random.random() < 0.5:
            return "/-/" + "/".join(self.options(3) + [self.source()])
        pairs = [f"{self.random.choice(SHORT_KEYS)}={self.number()}" for _ in range(3)]
        return "/-/" + ",".join(pairs) + "/" + self.source()

    def iiif(self):
        pick, number = self.random.choice, self.number
        name = pick([file.rsplit(".", 1)[0] for file in self.files] + ["nothing", "..", "a%2Fb", "%252F"])
        if self.random.random() < 0.15:
            return f"/iiif/3/{name}" + pick(["", "/", "/info.json", "/info.json?x", "/full"])
        region = pick(["full", "square", f"{number()},{number()},{number()},{number()}",
                       f"pct:{number(100)},{number(100)},{number(100)},{number(100)}", "x", ""])
        size = pick(["max", "^max", f"{number()},", f",{number()}", f"pct:{number(100)}",
                     f"{number()},{number()}", f"!{number()},{number()}", f"^{number(900)},", "full", "^"])
        rotation = pick(["0", "90", "!180", "22.5", number(400), "!", "1e3"])
        quality = pick(["default", "color", "gray", "bitonal", "sepia"])
        return f"/iiif/3/{name}/{region}/{size}/{rotation}/{quality}.{pick(FORMATS)}"

    def other(self):
        return self.random.choice([
            "/", "/live", "/ready", "/health", "/_", "/_/", "//", "/%00", "/_/w:10", "/playground/",
            "/playground/?source=local%3A%2F%2F%2Fchina.jpg&w=100", "/favicon.ico", "/purge", "*",
            "http://elsewhere.example/", "/" + "a" * 9000, "/_/plain/%zz", "/_/fit/300/200/x"])

    def mutated(self, target):
        """One that is nearly `target`."""
        text = list(target)
        for _ in range(self.random.randint(1, 3)):
            place = self.random.randrange(len(text) + 1)
            match self.random.randrange(4):
                case 0 if place < len(text):
                    del text[place]
                case 1:
                    text.insert(place, chr(self.random.randrange(1, 256)))
                case 2 if place < len(text):
                    text[place] = self.random.choice("/:@.%,=-_?&#")
                case _:
                    text[place:place] = text[:self.random.randint(0, 20)]
        return "".join(text)

    def target(self):
        kinds = [self.processing] * 10 + [self.iiif] * 4 + [self.info] * 2 + [self.short] * 2 + [self.other]
        target = self.random.choice(kinds)()
        return self.mutated(target) if self.random.random() < 0.15 else target
