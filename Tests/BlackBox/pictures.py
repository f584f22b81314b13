"""Pictures that are small as files and large in memory or work, or that lie."""

import base64
import pathlib

from case import Cases, fails, loads, survives
from drawing import (SIGNATURE, bmp, chunk, gif, ico, jpeg, plain_png, png, png_header, svg, tiff)

CASES = Cases()
# What is allowed to a picture of any kind.
LIMITS = {"seconds": 5, "memory": 560}


def picture(name, expected, data, *words, suffix="png", options=(), **limits):
    """A file that is drawn when its turn has come."""
    @CASES.add(name, expected, **(LIMITS | limits))
    def body(program, case):
        path = program.home / f"picture.{suffix}"
        path.write_bytes(data())
        outcome = program.load(path, *options, limit=case.seconds * 4)
        if expected == "an error":
            fails(outcome, *words)
        elif expected == "the picture":
            loads(outcome)
        else:
            survives(outcome)
        return outcome


SMALL = ("--processor", "downsample:200x200")
EITHER = "within the limits"

picture("PNG, 1 bit, 12,000 × 12,000", EITHER, lambda: plain_png(12_000, 12_000, 1, 0))
picture("the same in small", EITHER, lambda: plain_png(12_000, 12_000, 1, 0), options=SMALL)
picture("PNG, 16 bits and alpha, 12,000 × 12,000", EITHER,
        lambda: plain_png(12_000, 12_000, 16, 6), options=SMALL)
picture("PNG, interlaced, 12,000 × 12,000", EITHER, lambda: plain_png(12_000, 12_000, 8, 2, 1),
        options=SMALL)
picture("PNG, 1 bit, interlaced, 12,000 × 12,000", EITHER,
        lambda: plain_png(12_000, 12_000, 1, 0, 1), options=SMALL)
picture("PNG of 108 megapixels", "the picture", lambda: plain_png(12_000, 9_000, 8, 2))
picture("PNG, 30,000 × 30,000", "an error", lambda: plain_png(30_000, 30_000, 1, 0), "limit")
picture("PNG, 1 × 100,000,000", EITHER, lambda: plain_png(1, 100_000_000, 1, 0))


# Each has 324 MB of pixels: those that are stored go before those that are decoded next.
@CASES.add("eight PNG of 108 megapixels at a time", EITHER, seconds=40, memory=1500)
def eight(program, case):
    paths = []
    for number in range(8):
        paths.append(program.home / f"{number}.png")
        paths[-1].write_bytes(plain_png(12_000, 9_000, 8, 2) + bytes(number))
    outcome = program.load(*paths, "--jobs", "8", limit=case.seconds * 4)
    survives(outcome)
    return outcome


picture("PNG of 2³¹ − 1 pixels in each row", "an error", lambda: SIGNATURE + png_header(
    2**31 - 1, 2**31 - 1) + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
picture("PNG without size", "an error", lambda: SIGNATURE + png_header(0, 0)
        + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
for kind in (b"tEXt", b"zTXt", b"iTXt", b"iCCP", b"eXIf"):
    picture(f"PNG whose {kind.decode()} chunk claims 2 GiB", "an error",
            lambda kind=kind: SIGNATURE + png_header(9, 9)
            + chunk(kind, b"a\0\0" + bytes(200), 2**31 - 1) + png()[33:])
picture("PNG with 100,000 chunks", EITHER, lambda: png()[:33] + chunk(b"tEXt", b"a\0b") * 100_000
        + png()[33:])
picture("PNG cut short", "an error", lambda: png(99, 99, noise=True)[:-5000], "damaged")
picture("PNG whose data is rubbish", "an error", lambda: SIGNATURE + png_header(99, 99)
        + chunk(b"IDAT", b"rubbish" * 99) + chunk(b"IEND", b""), "damaged")

picture("JPEG, a scan for each component, 12,000 × 12,000", EITHER,
        lambda: jpeg(12_000, 12_000, in_one_scan=False), suffix="jpg", options=SMALL)
picture("JPEG of 120 megapixels, turned and cropped", EITHER,
        lambda: jpeg(12_000, 10_000, orientation=6), suffix="jpg",
        options=("--processor", "crop:100x100"))
picture("JPEG of 60 megapixels, blurred", EITHER, lambda: jpeg(10_000, 6_000), suffix="jpg",
        options=("--processor", "blur:9"))
picture("JPEG of 120 megapixels in small", "the picture", lambda: jpeg(12_000, 10_000),
        suffix="jpg", options=SMALL)

picture("GIF of 4,000 × 4,000 with 500 frames", EITHER, lambda: gif(4000, 4000, 500), suffix="gif")
picture("the same in small", EITHER, lambda: gif(4000, 4000, 500), suffix="gif", options=SMALL)
picture("GIF with 20,000 frames", "an error", lambda: gif(2, 2, 20_000), "frame", "limit",
        suffix="gif")
picture("GIF of 65,535 × 65,535", "an error", lambda: gif(65_535, 65_535, 1), suffix="gif")
picture("GIF cut short in a header", "an error", lambda: gif(9, 9, 1)[:20], suffix="gif")

picture("BMP, 12,000 × 12,000 in runs", EITHER,
        lambda: bmp(12_000, 12_000, b"\xff\1" * (48 * 12_000) + b"\0\1", 1, 8), suffix="bmp",
        options=SMALL)
picture("BMP that claims 30,000 × 30,000", "an error", lambda: bmp(30_000, 30_000), suffix="bmp")
picture("BMP of a negative width", "an error", lambda: bmp(-9, 9, bytes(999)), suffix="bmp")
picture("TIFF that claims 30,000 × 30,000", "an error", lambda: tiff(30_000, 30_000, bytes(99)),
        suffix="tif")
picture("TIFF that claims 2³² − 1 rows", "an error", lambda: tiff(9, 2**32 - 1, bytes(99)),
        suffix="tif")
picture("TIFF whose directory is itself", EITHER, lambda: tiff(9, 9, bytes(81))[:-4] + b"\x59\0\0\0",
        suffix="tif")
picture("ICO whose image is longer than the file", EITHER, lambda: ico((2**31, png())),
        suffix="ico")
picture("ICO that holds a bomb", EITHER, lambda: ico((0, plain_png(12_000, 12_000, 1, 0))),
        suffix="ico")

# SVG

LAUGHS = "<!DOCTYPE svg [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)) + "]>"
FILTER = "".join(f'<feGaussianBlur stdDeviation="{90 + n}"/><feMorphology radius="99"/>'
                 "<feTurbulence numOctaves='20' baseFrequency='.9'/>" for n in range(20))
picture("SVG of a billion laughs", EITHER, lambda: svg("<text>&a11;</text>", head=LAUGHS),
        suffix="svg")
picture("SVG of 100,000 nested groups", EITHER, lambda: svg("<g>" * 100_000 + "</g>" * 100_000),
        suffix="svg")
picture("SVG with 20 filters of 8,000 × 8,000", EITHER, lambda: svg(
    f'<filter id="f">{FILTER}</filter><rect width="8000" height="8000" filter="url(#f)"/>',
    8000, 8000), suffix="svg")
picture("SVG that uses itself", EITHER, lambda: svg(
    "".join(f'<g id="u{n}">' + f'<use xlink:href="#u{n + 1}"/>' * 10 + "</g>" for n in range(9))),
    suffix="svg")
picture("SVG of 1,000,000 × 1,000,000", "an error", lambda: svg("<g/>", 10**6, 10**6),
        suffix="svg")
picture("SVG with a pattern of single pixels", EITHER, lambda: svg(
    '<pattern id="p" width="1e-9" height="1e-9"><rect width="1" height="1"/></pattern>'
    '<rect width="4000" height="4000" fill="url(#p)"/>', 4000, 4000), suffix="svg")
STEPS = f'<filter id="f">{FILTER}</filter>'
LAYER = '<rect width="4000" height="4000" {}/>'
picture("SVG with 1,000 functions of a filter", "an error", lambda: svg(
    LAYER.format(f'filter="{"blur(9px) " * 1000}"'), 4000, 4000), suffix="svg",
    options=("--decoding-timeout", "2"))
for way, use in {"in capitals": 'filter="URL(#f)"', "with an escape": r'filter="url(#\66)"',
                 "beside another": 'filter="url(#f)" x:filter="none"'}.items():
    picture(f"SVG that names its filter {way}", "an error", lambda use=use: svg(
        f'<g xmlns:x="x">{STEPS}{LAYER.format(use)}</g>', 4000, 4000), suffix="svg")
picture("SVG whose document type seems not to end", "an error", lambda: svg(
    STEPS + LAYER.format('filter="url(#f)"'), 4000, 4000,
    '<!DOCTYPE svg [<!ENTITY a "]><!-- ">]>'), suffix="svg")
picture("SVG that holds a bomb", "an error", lambda: svg(
    '<image width="1" height="1" href="data:image/png;base64,'
    + base64.b64encode(plain_png(30_000, 30_000, 1, 0)).decode() + '"/>'), suffix="svg")

# What is no picture

for name, data in (("an empty file", b""), ("text", b"hello\n"), ("a page", b"<html></html>"),
                   ("zeros", bytes(9999)), ("a PDF", b"%PDF-1.4\n%\n")):
    picture(f"{name}", "an error", lambda data=data: data)
picture("a picture with rubbish behind it", "the picture", lambda: png() + b"rubbish" * 99)


def add_found(folder):
    """A case for each file of a folder: it is read, or refused, within the limits."""
    # The program runs in a folder of its own.
    for path in sorted(pathlib.Path(folder).resolve().rglob("*")):
        if not path.is_file() or path.suffix in (".md", ".txt"):
            continue

        @CASES.add(f"file {path.name}", EITHER, **LIMITS)
        def body(program, case, path=path):
            # Only the limit of time ends some drawings.
            outcome = program.load(
                path, "--decoding-timeout", "3", limit=case.seconds * 4)
            survives(outcome)
            return outcome
