#!/usr/bin/env python3
"""Makes the pictures that image servers are measured with, always the same bytes from the same libraries.

usage: pictures.py SAMPLES_FOLDER OUTPUT_FOLDER

They are made of the sample photographs as those of the other benchmarks.
"""

import io
import pathlib
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Peers"))
sys.dont_write_bytecode = True

from photographs import mosaic, save, with_noise  # noqa: E402


def save_animation(picture, path, count):
    """A move over a picture, in frames of 640×480."""
    frames = []
    for index in range(count):
        part = picture.crop((12 * index, 9 * index, 12 * index + 960, 9 * index + 720))
        frames.append(part.resize((640, 480), Image.Resampling.LANCZOS))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=50, loop=0)


def small(picture):
    """A JPEG of at most 20,000 bytes, in the best quality that has so few."""
    for quality in range(92, 20, -4):
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=quality, subsampling="4:2:0")
        if file.tell() <= 20_000:
            break
    return file.getvalue()


def save_small(picture, folder):
    """Two hundred different parts of a picture."""
    folder.mkdir(exist_ok=True)
    for index in range(200):
        left, top = 137 * index % (picture.width - 400), 89 * index % (picture.height - 300)
        part = picture.crop((left, top, left + 400, top + 300))
        (folder / f"{index}.jpg").write_bytes(small(part))


def main(samples, output):
    output.mkdir(parents=True, exist_ok=True)
    large = with_noise(mosaic(samples, 4032, 3024), 3.0, seed=1)
    save(large, output / "12mp.jpg", quality=90)
    save(large, output / "12mp-progressive.jpg", quality=90, progressive=True)
    save(with_noise(mosaic(samples, 6000, 4000), 3.0, seed=5), output / "24mp.jpg", quality=90)
    middle = with_noise(mosaic(samples, 2016, 1512), 2.0, seed=6)
    save(middle, output / "3mp.jpg", quality=90)
    middle.save(output / "3mp.webp", quality=90)
    with_noise(mosaic(samples, 1632, 1224), 2.0, seed=7).save(output / "2mp.avif", quality=80)
    with_noise(mosaic(samples, 1312, 984), 2.0, seed=8).save(output / "1.3mp.png")
    for count in (22, 44):
        save_animation(middle, output / f"{count}-frames.gif", count)
    save_small(large, output / "small")
    for path in sorted(output.glob("*.*")):
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
