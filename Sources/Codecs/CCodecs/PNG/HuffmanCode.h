#pragma once
#include <stdint.h>

/* The prefix codes of Deflate (RFC 1951, section 3.2.2). */

enum { huffman_most_symbols = 288, huffman_most_bits = 15 };

typedef struct {
    uint8_t lengths[huffman_most_symbols];
    /* With the first bit lowest, as they are written. */
    uint16_t codes[huffman_most_symbols];
} huffman_code;

/* Makes the best code of at most `limit` bits for symbols that occur so often; those that do not occur
   have none. */
void huffman_make(huffman_code *code, const uint32_t *counts, int symbols, int limit);
