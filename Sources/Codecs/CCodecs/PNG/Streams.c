#include "CPNG.h"

#include <libdeflate.h>

uint32_t cpng_crc32(uint32_t crc, const uint8_t *bytes, size_t count) {
    return libdeflate_crc32(crc, bytes, count);
}

static cpng_result inflate(
    const uint8_t *stream, size_t count, uint8_t *output, size_t limit, size_t *size) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) return CPNG_NO_MEMORY;
    enum libdeflate_result result =
        libdeflate_zlib_decompress(decompressor, stream, count, output, limit, size);
    libdeflate_free_decompressor(decompressor);
    switch (result) {
    case LIBDEFLATE_SUCCESS: return CPNG_OK;
    case LIBDEFLATE_INSUFFICIENT_SPACE: return CPNG_TOO_LONG;
    default: return CPNG_DAMAGED;
    }
}

cpng_result cpng_inflate(const uint8_t *stream, size_t count, uint8_t *output, size_t size) {
    return inflate(stream, count, output, size, NULL);
}

cpng_result cpng_inflate_up_to(
    const uint8_t *stream, size_t count, uint8_t *output, size_t limit, size_t *size) {
    return inflate(stream, count, output, limit, size);
}

cpng_compressor *cpng_compressor_create(int level) {
    return libdeflate_alloc_compressor(level);
}

void cpng_compressor_destroy(cpng_compressor *compressor) {
    libdeflate_free_compressor(compressor);
}

size_t cpng_compressed_bound(cpng_compressor *compressor, size_t count) {
    return libdeflate_zlib_compress_bound(compressor, count);
}

size_t cpng_compress(
    cpng_compressor *compressor, const uint8_t *bytes, size_t count, uint8_t *output,
    size_t capacity) {
    return libdeflate_zlib_compress(compressor, bytes, count, output, capacity);
}
