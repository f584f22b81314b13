"""Whole pictures, animations and files of all formats, by each library of worker.py."""

import io
import pathlib
import time


def timed(request, work):
    """Seconds of one call of `work`, which is done as often as the request says."""
    repeat = request.get("repeat") or 1
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        result = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    del result
    return {"wall": wall / repeat, "cpu": cpu / repeat}


class VipsFormats:
    def __init__(self, library):
        self.pyvips = library.pyvips

    def pixels(self, data):
        return self.pyvips.Image.new_from_buffer(data, "", access="sequential").copy_memory()

    def thumbnail(self, data, width, height, way):
        # libvips leaves colours in the space of the file unless it is told otherwise.
        options = {"export_profile": "srgb"} if way == "sRGB" else {}
        image = self.pyvips.Image.thumbnail_buffer(data, width, height=height, **options)
        return image.write_to_memory()

    def frames(self, data):
        image = self.pyvips.Image.new_from_buffer(data, "", n=-1, access="sequential")
        return image.copy_memory()

    def file(self, pixels, format, quality):
        if format == "png":
            return pixels.pngsave_buffer(strip=True)
        if format == "jpg":
            return pixels.jpegsave_buffer(Q=quality, strip=True)
        return pixels.webpsave_buffer(Q=quality, strip=True)


class PillowFormats:
    def __init__(self, library):
        self.image = library.image

    def pixels(self, data):
        image = self.image.open(io.BytesIO(data))
        image.load()
        return image

    def thumbnail(self, data, width, height, way):
        image = self.image.open(io.BytesIO(data))
        image.thumbnail((width, height), self.image.Resampling.LANCZOS)
        return image

    def frames(self, data):
        image = self.image.open(io.BytesIO(data))
        frames = []
        for index in range(image.n_frames):
            image.seek(index)
            frames.append(image.convert("RGB"))
        return frames

    def file(self, pixels, format, quality):
        file = io.BytesIO()
        options = {} if format == "png" or quality is None else {"quality": quality}
        pixels.save(file, "JPEG" if format == "jpg" else format.upper(), **options)
        return file.getvalue()


class OpenCVFormats:
    def __init__(self, library):
        self.cv2, self.numpy = library.cv2, library.numpy

    def pixels(self, data):
        picture = self.cv2.imdecode(
            self.numpy.frombuffer(data, self.numpy.uint8), self.cv2.IMREAD_COLOR
        )
        if picture is None:
            raise ValueError("OpenCV does not read the file")
        return picture

    def thumbnail(self, data, width, height, way):
        area = self.cv2.INTER_AREA
        return self.cv2.resize(self.pixels(data), (width, height), interpolation=area)

    def file(self, pixels, format, quality):
        qualities = {"jpg": self.cv2.IMWRITE_JPEG_QUALITY, "webp": self.cv2.IMWRITE_WEBP_QUALITY}
        options = [qualities[format], quality] if format in qualities else []
        return self.cv2.imencode("." + format, pixels, options)[1]


def formats_of(library):
    kinds = {"Vips": VipsFormats, "Pillow": PillowFormats, "OpenCV": OpenCVFormats}
    return kinds[type(library).__name__](library)


def answer(library, request):
    """What a request of this module's commands, which begin with "file ", comes to."""
    formats = formats_of(library)
    data = library.bytes_of(request["photograph"])
    command = request["command"]
    if command == "file to pixels":
        return timed(request, lambda: formats.pixels(data))
    if command == "file to thumbnail":
        size = request["width"], request["height"]
        return timed(request, lambda: formats.thumbnail(data, *size, request.get("way")))
    if command == "file to frames":
        return timed(request, lambda: formats.frames(data))
    pixels = formats.pixels(data)

    def write():
        return formats.file(pixels, request["format"], request.get("quality"))

    if command == "file from pixels":
        return timed(request, write)
    if command == "file size":
        return {"value": len(write())}
    if command == "file to disk":
        pathlib.Path(request["pixels"]).write_bytes(write())
        return {"value": 0}
    raise ValueError(f"no command {command}")
