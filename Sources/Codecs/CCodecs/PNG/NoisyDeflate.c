#include "CPNG.h"
#include "DeflateBlock.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

/* Filtered photographs are mostly noise: hardly any byte is part of a string that has been before, and
   strings of less than six bytes take more bits than their bytes do. libdeflate takes them nevertheless,
   which costs up to four per cent; zlib has a strategy for such data that is ten times slower. Here only
   strings of six bytes and more are looked for, in four places, and are taken when they are shorter than
   their bytes by the costs of the block before. */

enum {
    least_match = 6,
    most_match = 258,
    window = 32768,
    table_bits = 13,
    ways = 4,
    block_tokens = 20000,
    /* Bytes that are read at once, and a few more. */
    margin = 16,
    /* Of a hundred bytes of the first block, those that must not be part of a string. */
    least_literals = 30,
};

/* Where the same six bytes may have been, the latest first: the lowest 16 bits of the place, and above
   them 16 bits of the hash, so that bytes of other places are hardly ever looked at. Places are less
   than 64 KB back or not meant; what is found there is compared in any case. */
typedef uint32_t bucket __attribute__((vector_size(ways * sizeof(uint32_t))));

typedef struct {
    int length;
    int distance;
    /* Bits that are saved. */
    int gain;
} match;

typedef struct {
    bucket table[1 << table_bits];
    deflate_token tokens[block_tokens + 1];
    size_t token_count;
    size_t block_start;
    deflate_costs costs;
    deflate_output output;
} compressor;

static inline uint64_t load(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

/* Of the six bytes at the low end. */
static inline uint64_t hash(uint64_t value) {
    return (value << 16) * 0x9E3779B97F4A7C15u;
}

static inline bucket *bucket_of(compressor *this, uint64_t hash) {
    return &this->table[hash >> (64 - table_bits)];
}

static inline uint32_t mark(uint64_t hash) {
    return (uint32_t)(hash >> (48 - table_bits)) & 0xFFFF;
}

static inline void insert(bucket *bucket, uint64_t hash, size_t place) {
    uint32_t entry = mark(hash) << 16 | (uint32_t)(place & 0xFFFF);
    *bucket = __builtin_shufflevector(*bucket, (__typeof__(*bucket)){entry}, 4, 0, 1, 2);
}

static int common(const uint8_t *a, const uint8_t *b, int most) {
    int length = 0;
    while (length < most && a[length] == b[length]) length++;
    return length;
}

/* What the first bytes at `bytes` would take; of long strings an estimate. */
static int literal_bits(const compressor *this, const uint8_t *bytes, int length) {
    const int looked_at = length < 24 ? length : 24;
    int bits = 0;
    for (int i = 0; i < looked_at; i++) bits += this->costs.literals[bytes[i]];
    return bits * length / looked_at;
}

/* Whether one of the entries has that mark. */
static inline bool is_marked(bucket entries, uint32_t mark) {
    union {
        bucket entries;
        uint64_t halves[2];
    } same = {.entries = (bucket)(entries >> 16 == mark)};
    return (same.halves[0] | same.halves[1]) != 0;
}

static match longest(
    const compressor *this, bucket entries, uint32_t mark, const uint8_t *bytes, size_t place,
    size_t count) {
    match best = {0, 0, 0};
    const int most = count - place < most_match ? (int)(count - place) : most_match;
    for (int way = 0; way < ways; way++) {
        if (entries[way] >> 16 != mark) continue;
        size_t distance = (place - entries[way]) & 0xFFFF;
        if (distance == 0 || distance > place || distance >= window) continue;
        int length = common(bytes + place, bytes + place - distance, most);
        if (length <= best.length || length < least_match) continue;
        int gain = literal_bits(this, bytes + place, length)
            - this->costs.lengths[deflate_length_code[length]]
            - this->costs.distances[deflate_distance_code((unsigned)distance)];
        if (gain > best.gain) best = (match){length, (int)distance, gain};
    }
    return best;
}

/* The string that saves most at `place`, which becomes the latest one with its first bytes. */
static inline match find(
    compressor *this, const uint8_t *bytes, size_t place, size_t count) {
    const uint64_t hashed = hash(load(bytes + place));
    bucket *bucket = bucket_of(this, hashed);
    match best = {0, 0, 0};
    if (is_marked(*bucket, mark(hashed))) {
        best = longest(this, *bucket, mark(hashed), bytes, place, count);
    }
    insert(bucket, hashed, place);
    return best;
}

static inline void add_literal(compressor *this, uint8_t byte) {
    this->tokens[this->token_count++] = (deflate_token){0, byte};
}

static inline void add_match(compressor *this, match match) {
    this->tokens[this->token_count++] =
        (deflate_token){(uint16_t)match.length, (uint16_t)match.distance};
}

static bool is_noise(const compressor *this, size_t end) {
    size_t literals = 0;
    for (size_t i = 0; i < this->token_count; i++) literals += this->tokens[i].length == 0;
    return literals * 100 >= least_literals * end;
}

/* Ends a block before `place`. False when there is no room, or when the first block is not noise. */
static bool end_block(compressor *this, size_t place, bool is_last) {
    if (this->block_start == 0 && !is_noise(this, place)) return false;
    bool has_room = deflate_write_block(
        &this->output, this->tokens, this->token_count, is_last, &this->costs);
    this->token_count = 0;
    this->block_start = place;
    return has_room;
}

static bool compress(compressor *this, const uint8_t *bytes, size_t count) {
    const size_t safe = count > margin ? count - margin : 0;
    /* The string at the byte before, which is taken unless there is a better one here. */
    match waiting = {0, 0, 0};
    size_t place = 0;
    while (place < safe) {
        match here = find(this, bytes, place, count);
        if (waiting.length > 0 && here.gain <= waiting.gain) {
            add_match(this, waiting);
            size_t end = place - 1 + (size_t)waiting.length;
            for (size_t inside = place + 1; inside < end && inside < safe; inside++) {
                const uint64_t hashed = hash(load(bytes + inside));
                insert(bucket_of(this, hashed), hashed, inside);
            }
            place = end;
            waiting.length = 0;
        } else {
            if (waiting.length > 0) add_literal(this, bytes[place - 1]);
            if (here.length == 0) add_literal(this, bytes[place]);
            waiting = here;
            place++;
        }
        if (this->token_count >= block_tokens
            && !end_block(this, place - (waiting.length > 0), false)) {
            return false;
        }
    }
    if (waiting.length > 0) {
        add_match(this, waiting);
        place += (size_t)waiting.length - 1;
    }
    for (; place < count; place++) {
        if (this->token_count >= block_tokens && !end_block(this, place, false)) return false;
        add_literal(this, bytes[place]);
    }
    return end_block(this, count, true);
}

/* Before the first block: small values are usual. */
static void guess(deflate_costs *costs) {
    for (int i = 0; i < deflate_literals; i++) {
        int size = i < 128 ? i : 256 - i;
        costs->literals[i] = size < 4 ? 4 : size < 16 ? 6 : size < 48 ? 8 : 10;
    }
    memset(costs->lengths, 8, sizeof costs->lengths);
    for (int i = 0; i < deflate_distance_codes; i++) {
        costs->distances[i] = (uint8_t)(4 + (i < 4 ? 0 : i / 2 - 1));
    }
}

size_t cpng_compress_noise(
    const uint8_t *bytes, size_t count, uint8_t *output, size_t capacity) {
    const size_t header = 2, checksum = 4;
    if (count == 0 || count > UINT32_MAX || capacity < header + checksum) return 0;
    compressor *this = calloc(1, sizeof *this);
    if (!this) return 0;
    guess(&this->costs);
    /* Deflate with a window of 32 KB; a multiple of 31. */
    output[0] = 0x78;
    output[1] = 0x5E;
    this->output = (deflate_output){output + header, output + capacity - checksum, 0, 0};
    size_t size = 0;
    if (compress(this, bytes, count)) {
        deflate_finish(&this->output);
        uint32_t sum = libdeflate_adler32(1, bytes, count);
        for (int shift = 24; shift >= 0; shift -= 8) *this->output.next++ = (uint8_t)(sum >> shift);
        size = (size_t)(this->output.next - output);
    }
    free(this);
    return size;
}
