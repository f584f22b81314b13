#include "CJPEG.h"

#include <stdlib.h>

#include "failure.h"

typedef enum { stage_header, stage_start, stage_scans, stage_ended, stage_failed } stage;

struct cjpeg_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_source_mgr source;
    cjpeg_failure failure;
    stage stage;
    int scan_count;
    /* Bytes of a skipped segment that have not arrived yet. */
    size_t to_skip;
};

static cjpeg_decoder *decoder_of(j_common_ptr info) {
    return info->client_data;
}

/* A source that has what it was given and otherwise suspends the decoder */

static void init_source(j_decompress_ptr info) {
    (void)info;
}

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
    decoder->info.err = cjpeg_failure_manager(&decoder->failure);
    if (setjmp(decoder->failure.exit)) {
        jpeg_destroy_decompress(&decoder->info);
        free(decoder);
        return NULL;
    }
    decoder->info.client_data = decoder;
    /* Keeps client_data and err. */
    jpeg_create_decompress(&decoder->info);
    decoder->source.init_source = init_source;
    decoder->source.fill_input_buffer = suspend;
    decoder->source.skip_input_data = skip;
    decoder->source.resync_to_restart = jpeg_resync_to_restart;
    decoder->source.term_source = init_source;
    decoder->info.src = &decoder->source;
    return decoder;
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

static cjpeg_state advance(cjpeg_decoder *decoder) {
    struct jpeg_decompress_struct *info = &decoder->info;
    switch (decoder->stage) {
    case stage_header:
        if (!read_header(info)) return CJPEG_NEEDS_BYTES;
        decoder->stage = stage_start;
        return CJPEG_HEADER_READ;
    case stage_start:
        if (!jpeg_start_decompress(info)) return CJPEG_NEEDS_BYTES;
        decoder->stage = stage_scans;
        /* fall through */
    case stage_scans:
        for (;;) {
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
    *consumed = count - decoder->source.bytes_in_buffer;
    decoder->source.next_input_byte = NULL;
    decoder->source.bytes_in_buffer = 0;
    return state;
}

cjpeg_header cjpeg_get_header(const cjpeg_decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    cjpeg_header header = {
        .width = info->image_width,
        .height = info->image_height,
        .is_progressive = info->progressive_mode,
    };
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE: header.channels = 1; break;
    case JCS_RGB:
    case JCS_YCbCr: header.channels = 3; break;
    default: header.channels = 0; break;
    }
    return header;
}

int cjpeg_scan_count(const cjpeg_decoder *decoder) {
    return decoder->scan_count;
}

bool cjpeg_read(cjpeg_decoder *decoder, uint8_t *pixels, size_t bytes_per_row) {
    struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->stage != stage_scans && decoder->stage != stage_ended) return false;
    if (setjmp(decoder->failure.exit)) {
        decoder->stage = stage_failed;
        return false;
    }
    if (!jpeg_start_output(info, info->input_scan_number)) return false;
    /* An output pass of the scan that is being read waits for input up to the next scan, which is not
       there. A pass of an earlier number does not wait, and shows all that has been decoded. */
    info->output_scan_number = info->input_scan_number - 1;
    while (info->output_scanline < info->output_height) {
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
