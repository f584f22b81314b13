#include "DeflateBlock.h"
#include "HuffmanCode.h"

#include <string.h>

const uint8_t deflate_length_code[259] = {
    0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13,
    14, 14, 14, 14, 15, 15, 15, 15, 16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17,
    18, 18, 18, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 20, 20, 20,
    20, 20, 20, 20, 20, 20, 20, 20, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
    22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 23, 23, 23,
    23, 23, 23, 23, 23, 23, 23, 23, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 25,
    25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25,
    26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26,
    26, 26, 26, 26, 26, 26, 26, 26, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27,
    27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 28,
};

static const uint16_t length_base[deflate_length_codes] = {
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
};
static const uint8_t length_extra[deflate_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
};
static const uint16_t distance_base[deflate_distance_codes] = {
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
    3073, 4097, 6145, 8193, 12289, 16385, 24577,
};
static const uint8_t distance_extra[deflate_distance_codes] = {
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
};

/* What a symbol that does not occur in a block may cost in the next. */
enum { unseen_literal = 13, unseen_length = 13, unseen_distance = 8 };

/* Bits. At most 56 are put between two flushes. */

static inline void put(deflate_output *output, uint32_t bits, int count) {
    output->bits |= (uint64_t)bits << output->bit_count;
    output->bit_count += count;
}

/* Writes whole bytes; touches eight. */
static inline void flush(deflate_output *output) {
    memcpy(output->next, &output->bits, 8);
    output->next += output->bit_count >> 3;
    output->bits >>= output->bit_count & ~7;
    output->bit_count &= 7;
}

void deflate_finish(deflate_output *output) {
    if (output->bit_count > 0) *output->next++ = (uint8_t)output->bits;
    output->bits = 0;
    output->bit_count = 0;
}

/* The lengths of both codes, with repetitions written shorter: symbols of a third code and what follows
   them. */
enum { repeat_last = 16, repeat_zero = 17, repeat_zero_long = 18, lengths_symbols = 19 };

typedef struct {
    uint8_t symbols[316];
    uint8_t extra[316];
    int count;
} packed_lengths;

static void pack(packed_lengths *packed, const uint8_t *lengths, int count) {
    packed->count = 0;
    for (int i = 0; i < count;) {
        int run = 1;
        while (i + run < count && lengths[i + run] == lengths[i]) run++;
        int symbol = lengths[i], extra = 0, taken = 1;
        if (symbol == 0 && run >= 3) {
            taken = run < 138 ? run : 138;
            symbol = taken >= 11 ? repeat_zero_long : repeat_zero;
            extra = taken >= 11 ? taken - 11 : taken - 3;
        } else if (i > 0 && lengths[i] == lengths[i - 1] && run >= 3) {
            taken = run < 6 ? run : 6;
            symbol = repeat_last;
            extra = taken - 3;
        }
        packed->symbols[packed->count] = (uint8_t)symbol;
        packed->extra[packed->count++] = (uint8_t)extra;
        i += taken;
    }
}

static int extra_bits(int symbol) {
    switch (symbol) {
    case repeat_last: return 2;
    case repeat_zero: return 3;
    case repeat_zero_long: return 7;
    default: return 0;
    }
}

static void write_header(
    deflate_output *output, const huffman_code *literals, int literal_count,
    const huffman_code *distances, int distance_count, bool is_last) {
    static const uint8_t order[lengths_symbols] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    };
    uint8_t lengths[316];
    memcpy(lengths, literals->lengths, (size_t)literal_count);
    memcpy(lengths + literal_count, distances->lengths, (size_t)distance_count);
    packed_lengths packed;
    pack(&packed, lengths, literal_count + distance_count);
    uint32_t counts[lengths_symbols] = {0};
    for (int i = 0; i < packed.count; i++) counts[packed.symbols[i]]++;
    huffman_code code;
    huffman_make(&code, counts, lengths_symbols, 7);
    int shown = lengths_symbols;
    while (shown > 4 && code.lengths[order[shown - 1]] == 0) shown--;

    put(output, is_last, 1);
    put(output, 2, 2);
    put(output, (uint32_t)literal_count - 257, 5);
    put(output, (uint32_t)distance_count - 1, 5);
    put(output, (uint32_t)shown - 4, 4);
    flush(output);
    for (int i = 0; i < shown; i++) {
        put(output, code.lengths[order[i]], 3);
        flush(output);
    }
    for (int i = 0; i < packed.count; i++) {
        int symbol = packed.symbols[i];
        put(output, code.codes[symbol], code.lengths[symbol]);
        put(output, packed.extra[i], extra_bits(symbol));
        flush(output);
    }
}

static void write_tokens(
    deflate_output *output, const deflate_token *tokens, size_t count, const huffman_code *literals,
    const huffman_code *distances) {
    /* Bytes and what follows them at once: a copy is known not to be changed by what is written. */
    deflate_output out = *output;
    size_t i = 0;
    while (i < count) {
        /* Up to three bytes between two flushes. */
        int left = 3;
        for (; left > 0 && i < count && tokens[i].length == 0; left--, i++) {
            const unsigned byte = tokens[i].value;
            put(&out, literals->codes[byte], literals->lengths[byte]);
        }
        flush(&out);
        if (left == 0 || i == count) continue;
        const deflate_token token = tokens[i++];
        int code = deflate_length_code[token.length];
        put(&out, literals->codes[257 + code], literals->lengths[257 + code]);
        put(&out, token.length - length_base[code], length_extra[code]);
        flush(&out);
        code = deflate_distance_code(token.value);
        put(&out, distances->codes[code], distances->lengths[code]);
        put(&out, token.value - distance_base[code], distance_extra[code]);
        flush(&out);
    }
    *output = out;
}

/* The bytes that a block takes at most. */
static size_t room(
    const uint32_t *literal_counts, const huffman_code *literals, const uint32_t *distance_counts,
    const huffman_code *distances) {
    uint64_t bits = 17 + 3 * lengths_symbols + 316 * (7 + 7);
    for (int i = 0; i < 257 + deflate_length_codes; i++) {
        int extra = i > deflate_end ? length_extra[i - 257] : 0;
        bits += (uint64_t)literal_counts[i] * (uint64_t)(literals->lengths[i] + extra);
    }
    for (int i = 0; i < deflate_distance_codes; i++) {
        bits += (uint64_t)distance_counts[i]
            * (uint64_t)(distances->lengths[i] + distance_extra[i]);
    }
    /* What is left over from before, and what a flush touches. */
    return (size_t)(bits / 8) + 24;
}

static void remember(
    deflate_costs *costs, const huffman_code *literals, const huffman_code *distances) {
    for (int i = 0; i < deflate_literals; i++) {
        costs->literals[i] = literals->lengths[i] ? literals->lengths[i] : unseen_literal;
    }
    for (int i = 0; i < deflate_length_codes; i++) {
        int length = literals->lengths[257 + i];
        costs->lengths[i] = (uint8_t)((length ? length : unseen_length) + length_extra[i]);
    }
    for (int i = 0; i < deflate_distance_codes; i++) {
        int length = distances->lengths[i];
        costs->distances[i] = (uint8_t)((length ? length : unseen_distance) + distance_extra[i]);
    }
}

bool deflate_write_block(
    deflate_output *output, const deflate_token *tokens, size_t count, bool is_last,
    deflate_costs *costs) {
    uint32_t literal_counts[257 + deflate_length_codes] = {0};
    uint32_t distance_counts[deflate_distance_codes] = {0};
    literal_counts[deflate_end] = 1;
    for (size_t i = 0; i < count; i++) {
        deflate_token token = tokens[i];
        if (token.length == 0) {
            literal_counts[token.value]++;
        } else {
            literal_counts[257 + deflate_length_code[token.length]]++;
            distance_counts[deflate_distance_code(token.value)]++;
        }
    }
    huffman_code literals, distances;
    huffman_make(&literals, literal_counts, 257 + deflate_length_codes, huffman_most_bits);
    huffman_make(&distances, distance_counts, deflate_distance_codes, huffman_most_bits);
    if (room(literal_counts, &literals, distance_counts, &distances)
        > (size_t)(output->end - output->next)) {
        return false;
    }
    int literal_count = 257 + deflate_length_codes, distance_count = deflate_distance_codes;
    while (literal_count > 257 && literals.lengths[literal_count - 1] == 0) literal_count--;
    while (distance_count > 1 && distances.lengths[distance_count - 1] == 0) distance_count--;
    write_header(output, &literals, literal_count, &distances, distance_count, is_last);

    write_tokens(output, tokens, count, &literals, &distances);
    put(output, literals.codes[deflate_end], literals.lengths[deflate_end]);
    flush(output);
    remember(costs, &literals, &distances);
    return true;
}
