"""The exact thumbnail, and how far from it another one is."""

import math

import numpy
from PIL import Image


def lanczos_matrix(source, target, support=3.0):
    """The weights of `source` samples in `target` ones, antialiased; one row per target sample."""
    scale = source / target
    radius = support * scale
    centres = (numpy.arange(target) + 0.5) * scale
    positions = numpy.arange(source) + 0.5
    distance = (positions[None, :] - centres[:, None]) / scale
    weights = numpy.sinc(distance) * numpy.sinc(distance / support)
    weights[numpy.abs(distance) * scale >= radius] = 0
    return weights / weights.sum(axis=1, keepdims=True)


def thumbnail(path, width, height):
    """Lanczos-3 of all pixels, on gamma-encoded values, in double precision; not rounded."""
    with Image.open(path) as image:
        pixels = numpy.asarray(image.convert("RGB"), dtype=numpy.float64)
    rows = lanczos_matrix(pixels.shape[0], height)
    columns = lanczos_matrix(pixels.shape[1], width)
    channels = [rows @ pixels[:, :, channel] @ columns.T for channel in range(3)]
    return numpy.clip(numpy.stack(channels, axis=2), 0, 255)


def signal_to_noise(exact, pixels):
    """The peak signal-to-noise ratio of RGB bytes against `exact`, in decibels; 99 for no error."""
    values = numpy.frombuffer(pixels, numpy.uint8)
    if values.size != exact.size:
        raise ValueError(f"{values.size} bytes instead of {exact.size}")
    error = numpy.mean((values.reshape(exact.shape).astype(numpy.float64) - exact) ** 2)
    return 99.0 if error == 0 else 10 * math.log10(255**2 / error)
