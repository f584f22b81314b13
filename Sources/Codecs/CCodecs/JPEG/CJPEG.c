#include "CJPEG.h"

#include <stdlib.h>

#include "failure.h"
#include <CDecoding.h>

typedef enum { stage_header, stage_start, stage_scans, stage_ended, stage_failed } stage;

struct cjpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    cjpeg_failure failure;
    stage stage;
    int scan_count;
    /* As the first frame header says. libjpeg's own fields are no authority for them: a second frame header
       overwrites them before libjpeg finds that there must be none. */
    cjpeg_header header;
    int precision;
    int components;
    /* Bytes of a skipped segment that have not arrived yet. */
    size_t to_skip;
};

static cjpeg_decoder *decoder_of(j_common_ptr info) {
    return info->client_data;
}

/* A source that has what it was given and otherwise suspends the decoder */

static boolean suspend(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    struct jpeg_source_mgr *source = info->src;
    size_t here = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
    source->next_input_byte += here;
    source->bytes_in_buffer -= here;
    decoder_of((j_common_ptr)info)->to_skip += (size_t)count - here;
}

/* Life */

cjpeg_decoder *cjpeg_create(void) {
    cjpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->info.client_data = decoder;
    if (cjpeg_set_up(&decoder->info, &decoder->failure, &decoder->source, suspend, skip)) {
        return decoder;
    }
    free(decoder);
    return NULL;
}

void cjpeg_destroy(cjpeg_decoder *decoder) {
    jpeg_destroy_decompress(&decoder->info);
    free(decoder);
}

/* Work */

/* True when the header is complete. Grey stays grey, so that a profile for grey fits. */
static bool read_header(struct jpeg_decompress_struct *info) {
    if (jpeg_read_header(info, TRUE) == JPEG_SUSPENDED) return false;
    info->buffered_image = TRUE;
    info->out_color_space =
        info->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    return true;
}

static void keep_header(cjpeg_decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    decoder->precision = info->data_precision;
    decoder->components = info->num_components;
    decoder->header = (cjpeg_header) {
        .width = info->image_width,
        .height = info->image_height,
        .is_progressive = info->progressive_mode,
    };
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE: decoder->header.channels = 1; break;
    case JCS_RGB:
    case JCS_YCbCr: decoder->header.channels = 3; break;
    default: decoder->header.channels = 0; break;
    }
    for (int index = 0; index < info->num_components; index++) {
        const jpeg_component_info *component = &info->comp_info[index];
        size_t across = info->image_width * (size_t)component->h_samp_factor;
        size_t down = info->image_height * (size_t)component->v_samp_factor;
        /* Blocks of 64 coefficients of two bytes, in whole units of the widest component. */
        size_t columns = across / (8 * (size_t)info->max_h_samp_factor) + 4;
        size_t rows = down / (8 * (size_t)info->max_v_samp_factor) + 4;
        decoder->header.coefficient_bytes += columns * rows * 128;
    }
}

/* Whether a part of another frame header has been read since. */
static bool is_overwritten(const cjpeg_decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    return decoder->stage != stage_header
        && (info->image_width != decoder->header.width
            || info->image_height != decoder->header.height
            || info->data_precision != decoder->precision
            || info->num_components != decoder->components);
}

static cjpeg_state advance(cjpeg_decoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    switch (decoder->stage) {
    case stage_header:
        if (!read_header(info)) return CJPEG_NEEDS_BYTES;
        keep_header(decoder);
        decoder->stage = stage_start;
        return CJPEG_HEADER_READ;
    case stage_start:
        if (!jpeg_start_decompress(info)) return CJPEG_NEEDS_BYTES;
        decoder->stage = stage_scans;
        /* fall through */
    case stage_scans:
        for (;;) {
            if (cdecoding_is_late()) cjpeg_fail((j_common_ptr)info, "It takes too long");
            switch (jpeg_consume_input(info)) {
            case JPEG_SUSPENDED:
                return CJPEG_NEEDS_BYTES;
            case JPEG_SCAN_COMPLETED:
                decoder->scan_count++;
                break;
            case JPEG_REACHED_EOI:
                decoder->stage = stage_ended;
                return CJPEG_ENDED;
            }
        }
    case stage_ended:
        return CJPEG_ENDED;
    case stage_failed:
        break;
    }
    return CJPEG_FAILED;
}

cjpeg_state cjpeg_consume(
    cjpeg_decoder *decoder, const uint8_t *bytes, size_t count, size_t *consumed) {
    *consumed = 0;
    if (decoder->stage == stage_failed) return CJPEG_FAILED;
    size_t skipped = decoder->to_skip < count ? decoder->to_skip : count;
    decoder->to_skip -= skipped;
    decoder->source.next_input_byte = bytes + skipped;
    decoder->source.bytes_in_buffer = count - skipped;
    if (setjmp(decoder->failure.exit)) {
        decoder->stage = stage_failed;
        return CJPEG_FAILED;
    }
    cjpeg_state state = advance(decoder);
    if (is_overwritten(decoder)) {
        cjpeg_fail((j_common_ptr)&decoder->info, "It has a second frame header");
    }
    *consumed = count - decoder->source.bytes_in_buffer;
    decoder->source.next_input_byte = NULL;
    decoder->source.bytes_in_buffer = 0;
    return state;
}

cjpeg_header cjpeg_get_header(const cjpeg_decoder *decoder) {
    return decoder->header;
}

int cjpeg_scan_count(const cjpeg_decoder *decoder) {
    return decoder->scan_count;
}

bool cjpeg_read(cjpeg_decoder *decoder, uint8_t *pixels, size_t capacity) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->stage != stage_scans && decoder->stage != stage_ended) return false;
    if (setjmp(decoder->failure.exit)) {
        decoder->stage = stage_failed;
        return false;
    }
    size_t height = decoder->header.height;
    size_t bytes_per_row = decoder->header.width * (size_t)decoder->header.channels;
    if (bytes_per_row == 0 || capacity / bytes_per_row < height) {
        cjpeg_fail((j_common_ptr)info, "There is no room for the picture");
    }
    if (!jpeg_start_output(info, info->input_scan_number)) return false;
    /* What libjpeg is about to write, in its own words. */
    if (info->output_width != decoder->header.width || info->output_height != height
        || info->output_components != decoder->header.channels) {
        cjpeg_fail((j_common_ptr)info, "The picture has another size than its header says");
    }
    /* An output pass of the scan that is being read waits for input up to the next scan, which is not
       there. A pass of an earlier number does not wait, and shows all that has been decoded. */
    info->output_scan_number = info->input_scan_number - 1;
    while (info->output_scanline < height) {
        JSAMPROW row = pixels + info->output_scanline * bytes_per_row;
        if (jpeg_read_scanlines(info, &row, 1) == 0) {
            decoder->stage = stage_failed;
            return false;
        }
    }
    return jpeg_finish_output(info);
}

const char *cjpeg_message(const cjpeg_decoder *decoder) {
    return decoder->failure.message;
}
