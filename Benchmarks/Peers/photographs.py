#!/usr/bin/env python3
"""Makes the photographs that the benchmarks read, always the same bytes from the same libraries.

usage: photographs.py SAMPLES_FOLDER OUTPUT_FOLDER

A large one is a mosaic of the sample photographs, enlarged with Lanczos, with noise as of a sensor:
what a camera writes, in sizes that no sample has.
"""

import pathlib
import sys

import numpy
from PIL import Image, ImageOps

SAMPLES = ["china.jpg", "flower.jpg", "coffee.webp", "chelsea.png", "rocket.jpg", "retina.jpg"]
# Tiles of a 12 MP picture are 1.6 times as wide as most samples: the detail stays a photograph's.
COLUMNS, ROWS = 4, 3


def mosaic(samples, width, height):
    picture = Image.new("RGB", (width, height))
    tile = (width // COLUMNS, height // ROWS)
    for index in range(COLUMNS * ROWS):
        with Image.open(samples / SAMPLES[index % len(SAMPLES)]) as image:
            part = ImageOps.fit(image.convert("RGB"), tile, Image.Resampling.LANCZOS)
        if index >= len(SAMPLES):
            part = ImageOps.mirror(part)
        picture.paste(part, (index % COLUMNS * tile[0], index // COLUMNS * tile[1]))
    return picture


def with_noise(picture, deviation, seed):
    random = numpy.random.default_rng(seed)
    pixels = numpy.asarray(picture, dtype=numpy.float32)
    noise = random.normal(0, deviation, pixels.shape).astype(numpy.float32)
    return Image.fromarray(numpy.clip(pixels + noise, 0, 255).round().astype(numpy.uint8))


def animation(picture):
    """A hundred frames, each the one before moved to the side."""
    pixels = numpy.asarray(picture)
    return [Image.fromarray(numpy.roll(pixels, 4 * index, axis=1)) for index in range(100)]


def save(picture, path, quality, progressive=False):
    picture.save(path, quality=quality, subsampling="4:2:0", progressive=progressive)
    print(f"{path.name}: {picture.width}x{picture.height}, {path.stat().st_size} bytes")


def save_formats(middle, small, output):
    """The same pictures in other formats, and a move over the larger one as an animation."""
    middle.save(output / "1mp.png")
    middle.save(output / "1mp.webp", quality=80)
    middle.save(output / "1mp-p3.png", icc_profile=display_p3())
    middle.save(output / "1mp-p3.webp", quality=80, icc_profile=display_p3())
    small.save(output / "400.png")
    frames = []
    for index in range(20):
        left, top = 20 * index, 10 * index
        part = middle.crop((left, top, left + 600, top + 450))
        frames.append(part.resize((400, 300), Image.Resampling.LANCZOS))
    options = {"save_all": True, "append_images": frames[1:], "duration": 50, "loop": 0}
    frames[0].save(output / "20-frames.png", **options)
    frames[0].save(output / "20-frames.gif", **options)
    frames[0].save(output / "20-frames.webp", quality=80, **options)
    for name in ["1mp.png", "1mp.webp", "400.png"]:
        print(f"{name}: {(output / name).stat().st_size} bytes")
    for kind in ["png", "gif", "webp"]:
        print(f"20-frames.{kind}: {(output / f'20-frames.{kind}').stat().st_size} bytes")


def save_modern(large, middle, output):
    """Formats that not every Pillow writes; a row whose file is missing says so."""
    try:
        import pillow_heif

        pillow_heif.register_heif_opener()
    except ImportError:
        print("without pillow-heif there is no HEIC file")
    try:
        import pillow_jxl  # noqa: F401: registers itself
    except ImportError:
        print("without pillow-jxl-plugin there is no JPEG XL file")
    files = [
        (middle, "1mp.avif", {"quality": 75}),
        (large, "12mp.avif", {"quality": 75}),
        (middle, "1mp.heic", {"quality": 75}),
        (large, "12mp.heic", {"quality": 75}),
        (large, "12mp.jxl", {"quality": 85, "effort": 4}),
        (middle, "1mp-p3.avif", {"quality": 75, "icc_profile": display_p3()}),
    ]
    for picture, name, options in files:
        try:
            picture.save(output / name, **options)
        except (ValueError, OSError) as error:
            print(f"{name}: {error}")
            continue
        print(f"{name}: {(output / name).stat().st_size} bytes")


# The curve of sRGB, and primaries of Display P3 and of Adobe RGB adapted to D50.
CURVE_OF_SRGB = (3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
DISPLAY_P3 = [
    (0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407)
]
ADOBE_RGB = [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)]


def display_p3():
    return profile("Display P3", DISPLAY_P3, *CURVE_OF_SRGB)


def adobe_rgb():
    return profile("Compatible with Adobe RGB (1998)", ADOBE_RGB, 0, [563 / 256])


def profile(name, primaries, function, parameters):
    """An ICC profile (version 4) of a matrix and one parametric curve."""

    def fixed(value):
        return round(value * 65536).to_bytes(4, "big", signed=True)

    def text(words):
        encoded = words.encode("utf-16-be")
        head = b"mluc" + bytes(4) + (1).to_bytes(4, "big") + (12).to_bytes(4, "big")
        return head + b"enUS" + len(encoded).to_bytes(4, "big") + (28).to_bytes(4, "big") + encoded

    def colour(*values):
        return b"XYZ " + bytes(4) + b"".join(fixed(value) for value in values)

    curve = b"para" + bytes(4) + function.to_bytes(2, "big") + bytes(2)
    curve += b"".join(fixed(value) for value in parameters)
    tags = {
        b"desc": text(name),
        b"cprt": text("none"),
        b"wtpt": colour(0.9642, 1.0, 0.8249),
        b"rXYZ": colour(*primaries[0]),
        b"gXYZ": colour(*primaries[1]),
        b"bXYZ": colour(*primaries[2]),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, content = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        table += name + (start + len(content)).to_bytes(4, "big") + len(data).to_bytes(4, "big")
        content += data + bytes(-len(data) % 4)
    header = (start + len(content)).to_bytes(4, "big") + bytes(4) + b"\x04\x30\0\0mntrRGB XYZ "
    header += bytes(12) + b"acsp" + bytes(28)
    header += b"".join(fixed(value) for value in (0.9642, 1.0, 0.8249))
    header += bytes(128 - len(header))
    return header + len(tags).to_bytes(4, "big") + table + content


def save_series(largest, output):
    """A hundred different photographs of 12 MP: parts of the largest one."""
    output.mkdir(exist_ok=True)
    for index in range(100):
        left, top = 19 * index, 9 * index
        part = largest.crop((left, top, left + 4032, top + 3024))
        part.save(output / f"{index}.jpg", quality=90, subsampling="4:2:0")
    print(f"{output.name}: 100 of {part.width}x{part.height}")


def main(samples, output):
    output.mkdir(parents=True, exist_ok=True)
    large = with_noise(mosaic(samples, 4032, 3024), 3.0, seed=1)
    save(large, output / "12mp.jpg", quality=90)
    save(large, output / "12mp-progressive.jpg", quality=90, progressive=True)
    for name, icc_profile in {"p3": display_p3(), "adobe": adobe_rgb()}.items():
        large.save(
            output / f"12mp-{name}.jpg", quality=90, subsampling="4:2:0", icc_profile=icc_profile)
    largest = with_noise(mosaic(samples, 6000, 4000), 3.0, seed=5)
    save(largest, output / "24mp.jpg", quality=90)
    save(large.resize((1600, 1200), Image.Resampling.LANCZOS), output / "1600.jpg", quality=90)
    middle = with_noise(mosaic(samples, 1200, 900), 2.0, seed=2)
    save(middle, output / "1mp.jpg", quality=85)
    small = with_noise(mosaic(samples, 400, 300), 2.0, seed=3)
    save(small, output / "400.jpg", quality=85)
    square = small.crop((50, 0, 350, 300))
    save(square.resize((64, 64), Image.Resampling.LANCZOS), output / "64.jpg", quality=85)
    photo = with_noise(mosaic(samples, 840, 630), 1.0, seed=4)
    save(photo, output / "100kb.jpg", quality=84)
    for name, options in {"gif": {}, "webp": {"quality": 70, "method": 0}}.items():
        frames = animation(small)
        path = output / f"animation.{name}"
        frames[0].save(
            path, save_all=True, append_images=frames[1:], duration=40, loop=0, **options)
        print(f"{path.name}: {len(frames)} frames, {path.stat().st_size} bytes")

    save_formats(middle, small, output)
    save_modern(large, middle, output)
    save_series(largest, output / "series")

    # Exactly 20,000 bytes: what follows the end of a JPEG is ignored.
    path = output / "20kb.jpg"
    save(small.resize((320, 240), Image.Resampling.LANCZOS), path, quality=70)
    data = path.read_bytes()
    if len(data) > 20_000:
        sys.exit(f"{path} has {len(data)} bytes")
    path.write_bytes(data + bytes(20_000 - len(data)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
