#include "HuffmanCode.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Replaces the counts, in rising order, by the lengths of their codes: Moffat & Katajainen, "In-place
   calculation of minimum-redundancy codes" (1995). At least two. */
static void depths(uint32_t *a, int n) {
    a[0] += a[1];
    int root = 0, leaf = 2;
    for (int next = 1; next < n - 1; next++) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] = a[leaf++];
        }
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] += a[leaf++];
        }
    }
    a[n - 2] = 0;
    for (int next = n - 3; next >= 0; next--) a[next] = a[a[next]] + 1;
    int available = 1, used = 0, next = n - 1;
    uint32_t depth = 0;
    root = n - 2;
    while (available > 0) {
        while (root >= 0 && a[root] == depth) {
            used++;
            root--;
        }
        while (available > used) {
            a[next--] = depth;
            available--;
        }
        available = 2 * used;
        depth++;
        used = 0;
    }
}

/* How many codes there are of each length, with none longer than `limit`. */
static void count_lengths(const uint32_t *depths, int n, int limit, int *counts) {
    uint32_t total = 0;
    for (int i = 0; i < n; i++) counts[depths[i] > (uint32_t)limit ? limit : (int)depths[i]]++;
    for (int bits = 1; bits <= limit; bits++) total += (uint32_t)counts[bits] << (limit - bits);
    /* Too many of the longest: a shorter one is split, until all have their place. */
    for (; total > 1u << limit; total--) {
        counts[limit]--;
        int bits = limit - 1;
        while (counts[bits] == 0) bits--;
        counts[bits]--;
        counts[bits + 1] += 2;
    }
}

static void assign(huffman_code *code, int symbols, const int *counts) {
    uint32_t next[huffman_most_bits + 1] = {0}, first = 0;
    for (int bits = 1; bits <= huffman_most_bits; bits++) {
        first = (first + (uint32_t)(bits > 1 ? counts[bits - 1] : 0)) << 1;
        next[bits] = first;
    }
    for (int symbol = 0; symbol < symbols; symbol++) {
        int length = code->lengths[symbol];
        uint32_t value = length ? next[length]++ : 0, reversed = 0;
        for (int bit = 0; bit < length; bit++, value >>= 1) reversed = reversed << 1 | (value & 1);
        code->codes[symbol] = (uint16_t)reversed;
    }
}

void huffman_make(huffman_code *code, const uint32_t *counts, int symbols, int limit) {
    /* Count above, symbol below. */
    uint64_t sorted[huffman_most_symbols];
    int n = 0;
    memset(code, 0, sizeof *code);
    for (int symbol = 0; symbol < symbols; symbol++) {
        if (counts[symbol]) sorted[n++] = (uint64_t)counts[symbol] << 16 | (uint64_t)symbol;
    }
    int by_length[huffman_most_bits + 1] = {0};
    if (n == 1) {
        code->lengths[sorted[0] & 0xFFFF] = 1;
        by_length[1] = 1;
    } else if (n > 1) {
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
        uint32_t lengths[huffman_most_symbols];
        for (int i = 0; i < n; i++) lengths[i] = (uint32_t)(sorted[i] >> 16);
        depths(lengths, n);
        count_lengths(lengths, n, limit, by_length);
        int next = n - 1;
        for (int bits = 1; bits <= limit; bits++) {
            for (int i = 0; i < by_length[bits]; i++) {
                code->lengths[sorted[next--] & 0xFFFF] = (uint8_t)bits;
            }
        }
    }
    assign(code, symbols, by_length);
}
