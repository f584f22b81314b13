"""One library of Python as a contestant: a process that lives for the whole run.

usage: worker.py system-vips | bundled-vips | pillow | opencv | reference

Prints a line with its version, then answers each line of standard input, a JSON object with
`command` and arguments, with a line of JSON. Times work inside, with one thread.
"""

import importlib
import json
import pathlib
import sys
import time

import formats
import peak_memory


class Library:
    """What the libraries have in common; a subclass says how to make a thumbnail."""

    version = ""

    def __init__(self):
        self.files = {}

    def bytes_of(self, path):
        if path not in self.files:
            with open(path, "rb") as file:
                self.files[path] = file.read()
        return self.files[path]

    def thumbnail(self, data, width, height, way):
        """Pixels in memory, 8 bits, 3 channels, made of a JPEG's bytes."""
        raise NotImplementedError

    def rgb(self, thumbnail):
        """The bytes of those pixels, as RGB rows without padding."""
        raise NotImplementedError

    def time_thumbnail(self, request):
        data = self.bytes_of(request["photograph"])
        wall, cpu = time.perf_counter(), time.process_time()
        result = self.thumbnail(data, request["width"], request["height"], request.get("way"))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        del result
        return {"wall": wall, "cpu": cpu}

    def write_thumbnail(self, request):
        data = self.bytes_of(request["photograph"])
        result = self.thumbnail(data, request["width"], request["height"], request.get("way"))
        with open(request["pixels"], "wb") as file:
            file.write(self.rgb(result))
        return {"value": 0}

    def warm_up(self, request):
        """Loads what the library loads late."""
        data = self.bytes_of(request["photograph"])
        self.thumbnail(data, request["width"], request["height"], request.get("way"))
        return {"value": 0}

    def peak_of_thumbnail(self, request):
        """Bytes resident at the peak of one thumbnail, above what was resident before."""
        data = self.bytes_of(request["photograph"])
        start = peak_memory.restart()
        result = self.thumbnail(data, request["width"], request["height"], request.get("way"))
        peak = peak_memory.current() - start
        del result
        return {"value": peak}

    def peak_of_series(self, request):
        """The same for all photographs of a folder, one after another."""
        start = peak_memory.restart()
        for path in pathlib.Path(request["photograph"]).iterdir():
            data = path.read_bytes()
            self.thumbnail(data, request["width"], request["height"], request.get("way"))
        return {"value": peak_memory.current() - start}

    def answer(self, request):
        if request["command"].startswith("file "):
            return formats.answer(self, request)
        commands = {
            "time": self.time_thumbnail,
            "write": self.write_thumbnail,
            "warm-up": self.warm_up,
            "peak": self.peak_of_thumbnail,
            "peak-series": self.peak_of_series,
        }
        return commands[request["command"]](request)


class Vips(Library):
    def __init__(self, bundled):
        super().__init__()
        if not bundled:
            # Without the module that pyvips-binary installs, pyvips loads the system's libvips.
            sys.modules["_libvips"] = None
        import pyvips

        pyvips.cache_set_max(0)
        self.pyvips = pyvips
        self.version = ".".join(str(pyvips.version(part)) for part in range(3))

    def thumbnail(self, data, width, height, way):
        image = self.pyvips.Image.thumbnail_buffer(data, width, height=height)
        return image.write_to_memory()

    def rgb(self, thumbnail):
        return bytes(thumbnail)


class Pillow(Library):
    def __init__(self):
        super().__init__()
        import io

        import PIL.Image

        for plugin in ["pillow_heif", "pillow_jxl"]:
            try:
                module = importlib.import_module(plugin)
            except ImportError:
                continue  # formats that it cannot read are answered with an error
            if plugin == "pillow_heif":
                module.register_heif_opener()
        self.io = io
        self.image = PIL.Image
        self.version = PIL.__version__

    def thumbnail(self, data, width, height, way):
        image = self.image.open(self.io.BytesIO(data))
        # Decodes at a reduced scale that is at least twice the size asked for, then resamples.
        image.thumbnail((width, height), self.image.Resampling.LANCZOS)
        return image

    def rgb(self, thumbnail):
        return thumbnail.tobytes()


class OpenCV(Library):
    def __init__(self):
        super().__init__()
        import cv2
        import numpy

        cv2.setNumThreads(1)
        self.cv2 = cv2
        self.numpy = numpy
        self.version = cv2.__version__

    def thumbnail(self, data, width, height, way):
        cv2 = self.cv2
        flag = {
            "full": cv2.IMREAD_COLOR,
            "half": cv2.IMREAD_REDUCED_COLOR_2,
            "quarter": cv2.IMREAD_REDUCED_COLOR_4,
            "eighth": cv2.IMREAD_REDUCED_COLOR_8,
        }[way]
        image = cv2.imdecode(self.numpy.frombuffer(data, self.numpy.uint8), flag)
        return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)

    def rgb(self, thumbnail):
        return self.cv2.cvtColor(thumbnail, self.cv2.COLOR_BGR2RGB).tobytes()


class Reference(Library):
    """The judge: against Lanczos-3 resampling of the whole picture in double precision."""

    def __init__(self):
        super().__init__()
        import numpy

        import reference

        self.reference = reference
        self.version = numpy.__version__
        self.exact = {}

    def answer(self, request):
        if request["command"] != "quality":
            raise ValueError(f"no command {request['command']}")
        key = (request["photograph"], request["width"], request["height"])
        if key not in self.exact:
            self.exact[key] = self.reference.thumbnail(*key)
        with open(request["pixels"], "rb") as file:
            pixels = file.read()
        measure = self.reference.MEASURES[request["measure"]]
        return {"value": measure(self.exact[key], self.reference.picture(pixels, key))}


LIBRARIES = {
    "system-vips": lambda: Vips(bundled=False),
    "bundled-vips": lambda: Vips(bundled=True),
    "pillow": Pillow,
    "opencv": OpenCV,
    "reference": Reference,
}


def reply(answer):
    print(json.dumps(answer), flush=True)


def main():
    library = LIBRARIES[sys.argv[1]]()
    reply({"version": library.version})
    for line in sys.stdin:
        try:
            reply(library.answer(json.loads(line)))
        except Exception as error:  # whatever a library throws is the answer
            reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
