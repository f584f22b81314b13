#include "CJPEG.h"

#include <stdlib.h>

#include "failure.h"
#include <CDecoding.h>
#include <jerror.h>

/* More scans than any encoder writes. Each costs a pass over all coefficients, so that a small file with
   thousands of them would keep a core busy. */
#define MAXIMUM_SCAN_COUNT 100

struct cjpeg_reader {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    cjpeg_failure failure;
};

/* Called for each row of blocks. */
static void check_progress(j_common_ptr info) {
    if (((j_decompress_ptr)info)->input_scan_number > MAXIMUM_SCAN_COUNT) {
        cjpeg_fail(info, "Too many scans");
    }
    if (cdecoding_is_late()) cjpeg_fail(info, "It takes too long");
}

/* The source */

/* All bytes are there from the start. */
static boolean end_early(j_decompress_ptr info) {
    cjpeg_fail((j_common_ptr)info, "Premature end of JPEG file");
}

static void skip(j_decompress_ptr info, long count) {
    struct jpeg_source_mgr *source = info->src;
    if (count <= 0) return;
    if ((size_t)count > source->bytes_in_buffer) end_early(info);
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

/* Life */

cjpeg_reader *cjpeg_reader_create(const uint8_t *bytes, size_t count) {
    cjpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    if (!cjpeg_set_up(&reader->info, &reader->failure, &reader->source, end_early, skip)) {
        free(reader);
        return NULL;
    }
    reader->progress.progress_monitor = check_progress;
    reader->info.progress = &reader->progress;
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = count;
    return reader;
}

void cjpeg_reader_destroy(cjpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->info);
    free(reader);
}

const char *cjpeg_reader_message(const cjpeg_reader *reader) {
    return reader->failure.message;
}

/* Work */

bool cjpeg_reader_open(cjpeg_reader *reader, cjpeg_reader_header *header) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.exit)) return false;
    jpeg_read_header(info, TRUE);
    header->width = info->image_width;
    header->height = info->image_height;
    header->channels = 0;
    if (info->jpeg_color_space == JCS_GRAYSCALE && info->num_components == 1) header->channels = 1;
    if (info->jpeg_color_space == JCS_YCbCr && info->num_components == 3) header->channels = 3;
    return true;
}

bool cjpeg_reader_start_planes(cjpeg_reader *reader, int denominator, cjpeg_plane planes[3]) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.exit)) return false;
    info->scale_num = 1;
    info->scale_denom = (unsigned)denominator;
    info->raw_data_out = TRUE;
    info->do_fancy_upsampling = FALSE;
    info->do_block_smoothing = FALSE;
    info->out_color_space = info->jpeg_color_space;
    jpeg_start_decompress(info);
    for (int index = 0; index < info->num_components && index < 3; index++) {
        const jpeg_component_info *component = &info->comp_info[index];
        double size = component->DCT_scaled_size / 8.0;
        planes[index] = (cjpeg_plane) {
            .width = component->downsampled_width,
            .height = component->downsampled_height,
            .extent_x = size * info->image_width * component->h_samp_factor
                / info->max_h_samp_factor,
            .extent_y = size * info->image_height * component->v_samp_factor
                / info->max_v_samp_factor,
            .row_capacity = (size_t)component->width_in_blocks
                * (size_t)component->DCT_scaled_size,
            .strip_height = (size_t)component->v_samp_factor
                * (size_t)component->DCT_scaled_size,
        };
    }
    return true;
}

bool cjpeg_reader_read_strip(cjpeg_reader *reader, uint8_t **const *rows) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.exit)) return false;
    JDIMENSION height =
        (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size);
    if (jpeg_read_raw_data(info, (JSAMPIMAGE)rows, height) == 0) {
        cjpeg_fail((j_common_ptr)info, "There are no more rows");
    }
    return true;
}

/* Starts to decode RGB at one over `denominator`, which must give the size. */
static void start_rgb(j_decompress_ptr info, int denominator, size_t width, size_t height) {
    info->scale_num = 1;
    info->scale_denom = (unsigned)denominator;
    info->out_color_space = JCS_RGB;
    jpeg_start_decompress(info);
    if (info->output_width != width || info->output_height != height
        || info->output_components != 3) {
        cjpeg_fail((j_common_ptr)info, "The picture has another size than its header says");
    }
}

bool cjpeg_reader_read_rgb(
    cjpeg_reader *reader, int denominator, size_t width, size_t height, uint8_t *pixels,
    size_t bytes_per_row) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.exit)) return false;
    start_rgb(info, denominator, width, height);
    JSAMPROW rows[16];
    while (info->output_scanline < info->output_height) {
        JDIMENSION left = info->output_height - info->output_scanline;
        JDIMENSION count = left < 16 ? left : 16;
        for (JDIMENSION row = 0; row < count; row++) {
            rows[row] = pixels + (info->output_scanline + row) * bytes_per_row;
        }
        jpeg_read_scanlines(info, rows, count);
    }
    return true;
}

/* Writes `count` rows of RGB from row `y` on to where an orientation shows them. */
static void turn_rows(
    const uint8_t *rows, size_t y, size_t count, size_t width, size_t height, int orientation,
    uint8_t *pixels) {
    bool exchanges = orientation >= 5;
    bool right_to_left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool bottom_up = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t row = 3 * (ptrdiff_t)(exchanges ? height : width);
    /* From a pixel to the one on its right, and to the one below it. */
    ptrdiff_t across = (exchanges ? row : 3) * (right_to_left ? -1 : 1);
    ptrdiff_t down = (exchanges ? 3 : row) * (bottom_up ? -1 : 1);
    uint8_t *first = pixels + (right_to_left ? -across * (ptrdiff_t)(width - 1) : 0)
        + (bottom_up ? -down * (ptrdiff_t)(height - 1) : 0) + down * (ptrdiff_t)y;
    for (size_t x = 0; x < width; x++) {
        uint8_t *target = first + across * (ptrdiff_t)x;
        const uint8_t *source = rows + 3 * x;
        for (size_t index = 0; index < count; index++) {
            target[0] = source[0];
            target[1] = source[1];
            target[2] = source[2];
            target += down;
            source += 3 * width;
        }
    }
}

bool cjpeg_reader_read_turned(
    cjpeg_reader *reader, size_t width, size_t height, int orientation, uint8_t *strip,
    uint8_t *pixels) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.exit)) return false;
    start_rgb(info, 1, width, height);
    JSAMPROW rows[16];
    for (size_t row = 0; row < 16; row++) rows[row] = strip + row * 3 * width;
    while (info->output_scanline < info->output_height) {
        JDIMENSION start = info->output_scanline;
        JDIMENSION end = info->output_height - start < 16 ? info->output_height : start + 16;
        while (info->output_scanline < end) {
            jpeg_read_scanlines(
                info, rows + (info->output_scanline - start), end - info->output_scanline);
        }
        turn_rows(strip, start, end - start, width, height, orientation, pixels);
    }
    return true;
}

/* Coded data that ends before the pixels do, or that goes on elsewhere, is a mere warning for libjpeg. */
static void refuse_gaps(j_common_ptr info, int level) {
    if (level >= 0) return;
    int code = info->err->msg_code;
    if (code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC) cjpeg_fail(info, "Pixels are missing");
}

bool cjpeg_reader_is_whole(cjpeg_reader *reader) {
    struct jpeg_decompress_struct *info = &reader->info;
    info->err->emit_message = refuse_gaps;
    if (setjmp(reader->failure.exit)) return false;
    jpeg_read_header(info, TRUE);
    info->scale_num = 1;
    info->scale_denom = 8;
    info->out_color_space = info->jpeg_color_space;
    info->dct_method = JDCT_IFAST;
    info->do_fancy_upsampling = FALSE;
    jpeg_start_decompress(info);
    JSAMPARRAY row = (*info->mem->alloc_sarray)(
        (j_common_ptr)info, JPOOL_IMAGE,
        info->output_width * (JDIMENSION)info->output_components, 1);
    while (info->output_scanline < info->output_height) jpeg_read_scanlines(info, row, 1);
    return true;
}
