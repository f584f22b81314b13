#include "CPNG.h"

#include <libdeflate.h>

uint32_t cpng_crc32(uint32_t crc, const uint8_t *bytes, size_t count) {
    return libdeflate_crc32(crc, bytes, count);
}

cpng_result cpng_inflate(
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

size_t cpng_compressed_bound(size_t count) {
    return libdeflate_zlib_compress_bound(NULL, count);
}

size_t cpng_compress(
    const uint8_t *bytes, size_t count, int level, uint8_t *output, size_t capacity) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (!compressor) return 0;
    size_t size = libdeflate_zlib_compress(compressor, bytes, count, output, capacity);
    libdeflate_free_compressor(compressor);
    return size;
}
