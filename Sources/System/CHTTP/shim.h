#pragma once
#include <brotli/decode.h>
#include <curl/curl.h>
#include <zlib.h>
#include <zstd.h>

/* CURLOPT_QUICK_EXIT: without it, giving up a name look-up waits until the look-up has ended. */
#if LIBCURL_VERSION_NUM < 0x075700
#error "Halcyon needs libcurl 7.87 or newer; this one is older."
#endif

/* Swift cannot call functions with variable arguments: one function for each type of argument. */
#define CCURL_SET(name, type) \
    static inline CURLcode ccurl_set_##name(CURL *easy, CURLoption option, type value) { \
        return curl_easy_setopt(easy, option, value); \
    }

CCURL_SET(long, long)
CCURL_SET(string, const char *)
CCURL_SET(pointer, void *)
CCURL_SET(list, struct curl_slist *)
CCURL_SET(data_function, curl_write_callback)
CCURL_SET(request_function, curl_prereq_callback)
CCURL_SET(socket_function, curl_opensocket_callback)

/* The memory has to stay as long as the option is set: it is not copied. */
static inline CURLcode ccurl_set_blob(
    CURL *easy, CURLoption option, const void *bytes, size_t count
) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, &blob);
}

/* CURLVERSION_NOW is a macro that Swift does not import. */
static inline curl_version_info_data *ccurl_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Values that are not known are zero or NULL. */
#define CCURL_GET(name, type) \
    static inline type ccurl_get_##name(CURL *easy, CURLINFO info) { \
        type value = 0; \
        curl_easy_getinfo(easy, info, &value); \
        return value; \
    }

CCURL_GET(long, long)
CCURL_GET(size, curl_off_t)
CCURL_GET(pointer, void *)
CCURL_GET(certificates, struct curl_certinfo *)
