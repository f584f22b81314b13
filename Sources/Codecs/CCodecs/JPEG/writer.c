#include "CJPEG.h"

#include <stdio.h>
#include <stdlib.h>

#include "failure.h"
#include <jerror.h>

typedef struct {
    struct jpeg_compress_struct info;
    struct jpeg_destination_mgr destination;
    cjpeg_failure failure;
    uint8_t *bytes;
    size_t capacity;
} writer;

/* A destination of memory that grows */

static void begin(j_compress_ptr info) {
    writer *self = info->client_data;
    self->bytes = malloc(self->capacity);
    if (!self->bytes) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    self->destination.next_output_byte = self->bytes;
    self->destination.free_in_buffer = self->capacity;
}

/* The buffer is full, whatever free_in_buffer says. */
static boolean grow(j_compress_ptr info) {
    writer *self = info->client_data;
    uint8_t *larger = realloc(self->bytes, 2 * self->capacity);
    if (!larger) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    self->bytes = larger;
    self->destination.next_output_byte = larger + self->capacity;
    self->destination.free_in_buffer = self->capacity;
    self->capacity *= 2;
    return TRUE;
}

static void end(j_compress_ptr info) {
    (void)info;
}

static void configure(struct jpeg_compress_struct *info, cjpeg_writing writing) {
    info->image_width = (JDIMENSION)writing.width;
    info->image_height = (JDIMENSION)writing.height;
    info->input_components = 3;
    info->in_color_space = JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, writing.quality, TRUE);
    if (!writing.halves_chroma) {
        for (int index = 0; index < 3; index++) {
            info->comp_info[index].h_samp_factor = 1;
            info->comp_info[index].v_samp_factor = 1;
        }
    }
    if (writing.is_progressive) jpeg_simple_progression(info);
}

static void write_rows(
    struct jpeg_compress_struct *info, const uint8_t *rgb, size_t bytes_per_row) {
    JSAMPROW rows[16];
    while (info->next_scanline < info->image_height) {
        JDIMENSION left = info->image_height - info->next_scanline;
        JDIMENSION count = left < 16 ? left : 16;
        for (JDIMENSION row = 0; row < count; row++) {
            /* libjpeg does not write to them. */
            rows[row] = (JSAMPROW)(rgb + (info->next_scanline + row) * bytes_per_row);
        }
        jpeg_write_scanlines(info, rows, count);
    }
}

cjpeg_written cjpeg_write(const uint8_t *rgb, cjpeg_writing writing) {
    cjpeg_written written = {0};
    writer *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(written.message, sizeof written.message, "There is no memory");
        return written;
    }
    self->info.err = cjpeg_failure_manager(&self->failure);
    /* About a bit and a half for each pixel, what quality 80 needs of most photographs. */
    self->capacity = writing.width * writing.height / 5 + 4096;
    if (setjmp(self->failure.exit)) {
        snprintf(written.message, sizeof written.message, "%s", self->failure.message);
        free(self->bytes);
    } else {
        self->info.client_data = self;
        /* Keeps client_data and err. */
        jpeg_create_compress(&self->info);
        self->destination.init_destination = begin;
        self->destination.empty_output_buffer = grow;
        self->destination.term_destination = end;
        self->info.dest = &self->destination;
        configure(&self->info, writing);
        jpeg_start_compress(&self->info, TRUE);
        write_rows(&self->info, rgb, writing.bytes_per_row);
        jpeg_finish_compress(&self->info);
        written.bytes = self->bytes;
        written.count = self->capacity - self->destination.free_in_buffer;
        uint8_t *fitting = realloc(written.bytes, written.count);
        if (fitting) written.bytes = fitting;
    }
    jpeg_destroy_compress(&self->info);
    free(self);
    return written;
}
