#include "CJPEGReference.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf failure;
    char message[JMSG_LENGTH_MAX];
} error_state;

static void fail(j_common_ptr info) {
    error_state *errors = (error_state *)info->err;
    errors->manager.format_message(info, errors->message);
    longjmp(errors->failure, 1);
}

static void note_warning(j_common_ptr info, int level) {
    if (level >= 0) return;
    error_state *errors = (error_state *)info->err;
    errors->manager.num_warnings++;
    errors->manager.format_message(info, errors->message);
}

static void print_nothing(j_common_ptr info) {
    (void)info;
}

static struct jpeg_error_mgr *prepare(error_state *errors) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = fail;
    errors->manager.emit_message = note_warning;
    errors->manager.output_message = print_nothing;
    errors->message[0] = 0;
    return &errors->manager;
}

/* Decoding */

/* Rows that a strip has at most: four blocks of eight. */
enum { strip_rows = 32 };

typedef struct {
    struct jpeg_decompress_struct info;
    error_state errors;
    uint8_t *strips[3];
} decoding;

static size_t strip_width(const jpeg_component_info *component) {
    /* Whole units, each of four blocks at most. */
    return ((size_t)component->width_in_blocks + 4) * DCTSIZE;
}

static void start(decoding *work, const uint8_t *bytes, size_t count, int denominator) {
    struct jpeg_decompress_struct *info = &work->info;
    jpeg_create_decompress(info);
    jpeg_mem_src(info, bytes, count);
    jpeg_read_header(info, TRUE);
    info->raw_data_out = TRUE;
    info->out_color_space = info->jpeg_color_space;
    info->scale_num = 1;
    info->scale_denom = (unsigned)denominator;
    info->do_fancy_upsampling = FALSE;
}

static size_t block_count(const struct jpeg_decompress_struct *info) {
    size_t blocks = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        size_t across = (size_t)component->h_samp_factor, down = (size_t)component->v_samp_factor;
        blocks += (info->image_width / 8 + 1) * across * (info->image_height / 8 + 1) * down;
    }
    return blocks;
}

/* Decodes a strip and returns the number of rows that the first plane has in it. */
static int read_strip(decoding *work) {
    struct jpeg_decompress_struct *info = &work->info;
    JSAMPROW rows[3][strip_rows];
    JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
    for (int i = 0; i < info->num_components; i++) {
        size_t width = strip_width(&info->comp_info[i]);
        for (int row = 0; row < strip_rows; row++) rows[i][row] = work->strips[i] + row * width;
    }
    JDIMENSION height = (JDIMENSION)(info->max_v_samp_factor * info->min_DCT_scaled_size);
    return (int)jpeg_read_raw_data(info, planes, height);
}

static bool begin_strips(decoding *work) {
    struct jpeg_decompress_struct *info = &work->info;
    if (info->num_components != 1 && info->num_components != 3) return false;
    jpeg_start_decompress(info);
    for (int i = 0; i < info->num_components; i++) {
        work->strips[i] = calloc(strip_rows, strip_width(&info->comp_info[i]));
        if (!work->strips[i]) return false;
    }
    return true;
}

static void end(decoding *work) {
    jpeg_destroy_decompress(&work->info);
    for (int i = 0; i < 3; i++) free(work->strips[i]);
    free(work);
}

static void decode_planes(decoding *work, cjpegref_picture *picture) {
    struct jpeg_decompress_struct *info = &work->info;
    picture->plane_count = info->num_components;
    for (int i = 0; i < info->num_components; i++) {
        cjpegref_plane *plane = &picture->planes[i];
        plane->width = plane->bytes_per_row = info->comp_info[i].downsampled_width;
        plane->height = info->comp_info[i].downsampled_height;
        plane->samples = calloc(plane->height, plane->bytes_per_row);
        if (!plane->samples) return;
    }
    for (size_t strip = 0; info->output_scanline < info->output_height; strip++) {
        if (read_strip(work) == 0) return;
        for (int i = 0; i < info->num_components; i++) {
            const jpeg_component_info *component = &info->comp_info[i];
            cjpegref_plane *plane = &picture->planes[i];
            size_t height = (size_t)component->v_samp_factor * (size_t)component->DCT_scaled_size;
            for (size_t row = 0; row < height && strip * height + row < plane->height; row++) {
                memcpy(plane->samples + (strip * height + row) * plane->bytes_per_row,
                    work->strips[i] + row * strip_width(component), plane->width);
            }
        }
    }
    jpeg_finish_decompress(info);
    picture->is_complete = true;
}

void cjpegref_decode(
    const uint8_t *bytes, size_t count, int denominator, size_t block_limit,
    cjpegref_picture *picture) {
    memset(picture, 0, sizeof *picture);
    decoding *work = calloc(1, sizeof *work);
    if (!work) return;
    work->info.err = prepare(&work->errors);
    if (!setjmp(work->errors.failure)) {
        start(work, bytes, count, denominator);
        if (block_count(&work->info) > block_limit) {
            strcpy(work->errors.message, "more blocks than the limit");
        } else if (begin_strips(work)) {
            decode_planes(work, picture);
        }
    }
    picture->warning_count = work->errors.manager.num_warnings;
    snprintf(picture->message, sizeof picture->message, "%s", work->errors.message);
    end(work);
}

void cjpegref_free_picture(cjpegref_picture *picture) {
    for (int i = 0; i < 3; i++) free(picture->planes[i].samples);
    memset(picture, 0, sizeof *picture);
}

bool cjpegref_decode_strips(const uint8_t *bytes, size_t count, int denominator) {
    decoding *work = calloc(1, sizeof *work);
    if (!work) return false;
    work->info.err = prepare(&work->errors);
    volatile bool succeeded = false;
    if (!setjmp(work->errors.failure)) {
        start(work, bytes, count, denominator);
        if (begin_strips(work)) {
            while (work->info.output_scanline < work->info.output_height) read_strip(work);
            jpeg_finish_decompress(&work->info);
            succeeded = true;
        }
    }
    end(work);
    return succeeded;
}

/* Coefficients */

static void copy_coefficients(
    decoding *work, jvirt_barray_ptr array, int index, cjpegref_coefficients *coefficients) {
    struct jpeg_decompress_struct *info = &work->info;
    jpeg_component_info *component = &info->comp_info[index];
    size_t width = (size_t)component->width_in_blocks * DCTSIZE;
    size_t height = (size_t)component->height_in_blocks * DCTSIZE;
    coefficients->values = calloc(width * height, sizeof *coefficients->values);
    if (!coefficients->values) return;
    coefficients->width = width;
    coefficients->height = height;
    for (JDIMENSION y = 0; y < component->height_in_blocks; y++) {
        JBLOCKARRAY rows = info->mem->access_virt_barray((j_common_ptr)info, array, y, 1, FALSE);
        for (JDIMENSION x = 0; x < component->width_in_blocks; x++) {
            for (size_t i = 0; i < DCTSIZE2; i++) {
                coefficients->values[(y * DCTSIZE + i / 8) * width + x * DCTSIZE + i % 8] =
                    (int16_t)(rows[0][x][i] * component->quant_table->quantval[i]);
            }
        }
    }
}

bool cjpegref_read_coefficients(
    const uint8_t *bytes, size_t count, int component, cjpegref_coefficients *coefficients) {
    memset(coefficients, 0, sizeof *coefficients);
    decoding *work = calloc(1, sizeof *work);
    if (!work) return false;
    work->info.err = prepare(&work->errors);
    if (!setjmp(work->errors.failure)) {
        jpeg_create_decompress(&work->info);
        jpeg_mem_src(&work->info, bytes, count);
        jpeg_read_header(&work->info, TRUE);
        jvirt_barray_ptr *arrays = jpeg_read_coefficients(&work->info);
        if (component < work->info.num_components) {
            copy_coefficients(work, arrays[component], component, coefficients);
        }
    }
    end(work);
    return coefficients->values != NULL;
}

void cjpegref_free_coefficients(cjpegref_coefficients *coefficients) {
    free(coefficients->values);
    memset(coefficients, 0, sizeof *coefficients);
}

/* Encoding */

enum { MOST_SCANS = 32 };

static void add_scan(
    jpeg_scan_info *scans, int *count, int first_component, int components, int first, int last,
    int high, int low) {
    jpeg_scan_info *scan = &scans[(*count)++];
    memset(scan, 0, sizeof *scan);
    scan->comps_in_scan = components;
    for (int index = 0; index < components; index++)
        scan->component_index[index] = first_component + index;
    scan->Ss = first;
    scan->Se = last;
    scan->Ah = high;
    scan->Al = low;
}

/* A few bands with all bits at once, the lower ones first. */
static int plan_bands(jpeg_scan_info *scans, int components) {
    int count = 0;
    add_scan(scans, &count, 0, components, 0, 0, 0, 0);
    for (int index = 0; index < components; index++) {
        add_scan(scans, &count, index, 1, 1, 11, 0, 0);
        add_scan(scans, &count, index, 1, 12, 63, 0, 0);
    }
    return count;
}

/* Means of each component alone, then bit by bit together; bands that are known to different bits. */
static int plan_bits(jpeg_scan_info *scans, int components) {
    int count = 0;
    for (int index = 0; index < components; index++)
        add_scan(scans, &count, index, 1, 0, 0, 0, 2);
    for (int index = components - 1; index >= 0; index--) {
        add_scan(scans, &count, index, 1, 1, 9, 0, 2);
        add_scan(scans, &count, index, 1, 10, 40, 0, 1);
        add_scan(scans, &count, index, 1, 41, 63, 0, 0);
        add_scan(scans, &count, index, 1, 1, 5, 2, 1);
        add_scan(scans, &count, index, 1, 6, 9, 2, 1);
        add_scan(scans, &count, index, 1, 1, 40, 1, 0);
    }
    add_scan(scans, &count, 0, components, 0, 0, 2, 1);
    add_scan(scans, &count, 0, components, 0, 0, 1, 0);
    return count;
}

uint8_t *cjpegref_encode(const uint8_t *pixels, cjpegref_options options, size_t *count) {
    struct jpeg_compress_struct info;
    error_state errors;
    unsigned char *volatile result = NULL;
    unsigned char *buffer = NULL;
    unsigned long size = 0;
    info.err = prepare(&errors);
    jpeg_create_compress(&info);
    if (setjmp(errors.failure)) {
        jpeg_destroy_compress(&info);
        return NULL;
    }
    jpeg_mem_dest(&info, &buffer, &size);
    info.image_width = (JDIMENSION)options.width;
    info.image_height = (JDIMENSION)options.height;
    info.input_components = options.channels;
    info.in_color_space = options.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    if (options.keeps_rgb) jpeg_set_colorspace(&info, info.in_color_space);
    jpeg_set_quality(&info, options.quality, TRUE);
    info.comp_info[0].h_samp_factor = options.horizontal_sampling;
    info.comp_info[0].v_samp_factor = options.vertical_sampling;
    info.optimize_coding = options.is_optimised;
    info.arith_code = options.is_arithmetic;
    info.restart_interval = (unsigned)options.restart_interval;
    jpeg_scan_info scans[MOST_SCANS];
    if (options.is_progressive) jpeg_simple_progression(&info);
    if (options.is_progressive && options.scans > 0) {
        int (*plan)(jpeg_scan_info *, int) = options.scans == 1 ? plan_bands : plan_bits;
        info.num_scans = plan(scans, info.num_components);
        info.scan_info = scans;
    }
    jpeg_start_compress(&info, TRUE);
    size_t bytes_per_row = options.width * (size_t)options.channels;
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = (JSAMPROW)pixels + info.next_scanline * bytes_per_row;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    result = buffer;
    *count = size;
    return result;
}
