"""Picture files drawn by code."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, data, length=None):
    length = len(data) if length is None else length
    return struct.pack(">I", length) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width, height, depth=8, colour=2, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def png(width=16, height=16, seed=0, noise=False):
    """A gradient; `seed` makes it another picture, `noise` one that does not compress."""
    rows = bytearray()
    state = seed * 2654435761 % (1 << 32) or 1
    for y in range(height):
        rows.append(0)
        for x in range(width):
            if noise:
                state = (state * 1664525 + 1013904223) % (1 << 32)
                rows += struct.pack(">I", state)[:3]
            else:
                rows += bytes(((x * 7 + seed) % 256, (y * 5 + seed * 3) % 256, seed % 256))
    return (SIGNATURE + png_header(width, height) + chunk(b"IDAT", zlib.compress(bytes(rows), 1))
            + chunk(b"IEND", b""))


def plain_png(width, height, depth, colour, interlace=0):
    """A picture of zeros, so that it is small whatever its size."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = bytes(1 + (width * samples * depth + 7) // 8)
    # Many rows at a time, of which there may be millions.
    rows = max(64, (1 << 20) // len(row))
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row * rows) for _ in range(height // rows + 1)) + packer.flush()
    return (SIGNATURE + png_header(width, height, depth, colour, interlace)
            + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def png_pixels(data):
    """The pixels of a PNG file of 8 bits without interlace, each as its bytes."""
    width, height, _, colour = struct.unpack(">IIBB", data[16:26])
    size = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    stream, place = b"", len(SIGNATURE)
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        if kind == b"IDAT":
            stream += data[place + 8:place + 8 + length]
        place += length + 12
    stream = zlib.decompress(stream)
    above = bytearray(width * size)
    for start in range(0, len(stream), width * size + 1):
        row = bytearray(stream[start + 1:start + 1 + width * size])
        # The filters of the PNG specification, section 9.
        for x in range(len(row) if stream[start] else 0):
            left, upper, corner = ((row[x - size], above[x], above[x - size]) if x >= size
                                   else (0, above[x], 0))
            guess = left + upper - corner
            nearest = min((left, upper, corner), key=lambda value: abs(guess - value))
            row[x] = (row[x] + (left, upper, (left + upper) // 2, nearest)[stream[start] - 1]) % 256
        above = row
        yield from (bytes(row[x:x + size]) for x in range(0, len(row), size))


def gif_pixels(count):
    """As many pixels of colour 0, compressed with LZW as GIF has it."""
    data, bits, free = [], 0, 0
    while count:
        # The codes grow by one pixel each until the table is full; then it begins anew.
        bits |= 4 << free
        free += 3
        for step in range(1, 4090):
            size = min(step, count)
            bits |= (0 if size == 1 else size + 4) << free
            free += (step + 4).bit_length() if step > 1 else 3
            count -= size
            if not count:
                break
        else:
            bits |= 4 << free
            free += 12
            whole = free // 8
            data.append((bits & (1 << 8 * whole) - 1).to_bytes(whole, "little"))
            bits, free = bits >> 8 * whole, free % 8
    bits |= 5 << free
    return b"".join(data) + bits.to_bytes(free // 8 + 2, "little")


def gif(width, height, frames, screen=None):
    """Frames of one colour."""
    head = b"GIF89a" + struct.pack("<HHBBB", *(screen or (width, height)), 0x80, 0, 0)
    data = gif_pixels(width * height)
    blocks = b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255]
                      for i in range(0, len(data), 255))
    frame = (b"\x21\xf9\x04\x00\x05\x00\x00\x00" + b"\x2c"
             + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02" + blocks + b"\x00")
    return head + b"\0\0\0\xff\xff\xff" + frame * frames + b"\x3b"


def bmp(width, height, body=b"", compression=0, bits=24):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(body),
                         2835, 2835, 256 if bits == 8 else 0, 0)
    palette = bytes(1024) if bits == 8 else b""
    offset = 14 + len(header) + len(palette)
    return (b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset) + header + palette
            + body)


def tiff(width, height, strips=b""):
    """A grey picture without compression whose header may lie."""
    entries = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1),
               (273, 4, 8), (277, 3, 1), (278, 4, height), (279, 4, len(strips))]
    directory = struct.pack("<H", len(entries))
    for tag, kind, value in entries:
        directory += struct.pack("<HHII", tag, kind, 1, value)
    return (b"II*\0" + struct.pack("<I", 8 + len(strips)) + strips + directory + bytes(4))


def jpeg(width, height, in_one_scan=True, orientation=1):
    """A grey picture of three components that are stored in full, all in one scan or each in its own."""
    def segment(code, data):
        return bytes([0xFF, code]) + struct.pack(">H", len(data) + 2) + data

    exif = struct.pack("<2sHIHHHIII", b"II", 42, 8, 1, 0x112, 3, 1, orientation, 0)
    file = b"\xff\xd8" + segment(0xE1, b"Exif\0\0" + exif) + segment(0xDB, b"\0" + b"\1" * 64)
    file += segment(0xC0, struct.pack(">BHHB", 8, height, width, 3)
                    + b"".join(bytes([name, 0x11, 0]) for name in (1, 2, 3)))
    # The only code of each table is a bit that is 0: no difference, and no more of the block.
    for table in (0x00, 0x10):
        file += segment(0xC4, bytes([table, 1]) + bytes(16))
    blocks = ((width + 7) // 8) * ((height + 7) // 8)
    for scan in ((1, 2, 3),) if in_one_scan else ((1,), (2,), (3,)):
        names = b"".join(bytes([name, 0]) for name in scan)
        file += segment(0xDA, bytes([len(scan)]) + names + b"\0\x3f\0")
        file += bytes((2 * blocks * len(scan) + 7) // 8)
    return file + b"\xff\xd9"


def ico(*images):
    """Images of (declared length, bytes)."""
    head = struct.pack("<HHH", 0, 1, len(images))
    offset = 6 + 16 * len(images)
    body = b""
    for length, data in images:
        head += struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, length, offset + len(body))
        body += data
    return head + body


def svg(content, width=100, height=100, head=""):
    return (f'<?xml version="1.0"?>{head}<svg xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" height="{height}">'
            f"{content}</svg>").encode()
