#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks of a Deflate stream (RFC 1951, section 3.2.7) with codes made for each. */

enum {
    deflate_literals = 256,
    deflate_end = 256,
    deflate_length_codes = 29,
    deflate_distance_codes = 30,
};

/* A byte (`length` is 0, `value` the byte) or a string that has been before (`value` is how far back). */
typedef struct {
    uint16_t length;
    uint16_t value;
} deflate_token;

typedef struct {
    uint8_t *next;
    uint8_t *end;
    uint64_t bits;
    int bit_count;
} deflate_output;

/* Bits that each byte, length and distance took in a block, with what follows the code. */
typedef struct {
    uint8_t literals[deflate_literals];
    uint8_t lengths[deflate_length_codes];
    uint8_t distances[deflate_distance_codes];
} deflate_costs;

/* The code of a length from 3 on. */
extern const uint8_t deflate_length_code[259];

static inline int deflate_distance_code(unsigned distance) {
    if (distance < 5) return (int)distance - 1;
    int bits = 31 - __builtin_clz(distance - 1);
    return 2 * bits + (int)((distance - 1) >> (bits - 1) & 1);
}

/* Writes a block and tells what its symbols cost. False when there is no room for it. */
bool deflate_write_block(
    deflate_output *output, const deflate_token *tokens, size_t count, bool is_last,
    deflate_costs *costs);

/* Writes the bits that are left, filled up to a byte; there is room for it. */
void deflate_finish(deflate_output *output);
