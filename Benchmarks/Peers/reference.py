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


def picture(pixels, key):
    """RGB bytes as an array of `key`'s size, which is what a picture is known by."""
    _, width, height = key
    values = numpy.frombuffer(pixels, numpy.uint8)
    if values.size != 3 * width * height:
        raise ValueError(f"{values.size} bytes instead of {3 * width * height}")
    return values.reshape(height, width, 3).astype(numpy.float64)


def signal_to_noise(exact, other):
    """The peak signal-to-noise ratio in decibels; 99 for no error."""
    error = numpy.mean((other - exact) ** 2)
    return 99.0 if error == 0 else 10 * math.log10(255**2 / error)


def similarity(exact, other):
    """The mean structural similarity of the luminance, with a Gaussian window of 11 samples and a
    deviation of 1.5 (Wang, Bovik, Sheikh and Simoncelli 2004)."""
    weights = numpy.exp(-((numpy.arange(11) - 5) ** 2) / (2 * 1.5**2))
    weights /= weights.sum()

    def blurred(plane):
        for axis in (0, 1):
            windows = numpy.lib.stride_tricks.sliding_window_view(plane, 11, axis=axis)
            plane = windows @ weights
        return plane

    luminance = numpy.array([0.299, 0.587, 0.114])
    a, b = exact @ luminance, other @ luminance
    mean_a, mean_b = blurred(a), blurred(b)
    variance_a = blurred(a * a) - mean_a**2
    variance_b = blurred(b * b) - mean_b**2
    covariance = blurred(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    below = (mean_a**2 + mean_b**2 + c1) * (variance_a + variance_b + c2)
    return float(numpy.mean(above / below))


MEASURES = {"signalToNoise": signal_to_noise, "similarity": similarity}
