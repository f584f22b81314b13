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
CCURL_SET(size, curl_off_t)
CCURL_SET(string, const char *)
CCURL_SET(pointer, void *)
CCURL_SET(list, struct curl_slist *)
CCURL_SET(data_function, curl_write_callback)

/* The memory has to stay as long as the option is set: it is not copied. */
static inline CURLcode ccurl_set_blob(
    CURL *easy, CURLoption option, const void *bytes, size_t count
) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode ccurl_set_request_function(CURL *easy, curl_prereq_callback function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode ccurl_set_socket_function(CURL *easy, curl_opensocket_callback function) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

/* CURLVERSION_NOW is a macro that Swift does not import. */
static inline curl_version_info_data *ccurl_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Values that are not known are zero or NULL. */

static inline long ccurl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static inline curl_off_t ccurl_get_size(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

static inline void *ccurl_get_private(CURL *easy) {
    char *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

static inline struct curl_certinfo *ccurl_get_certificates(CURL *easy) {
    struct curl_certinfo *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_CERTINFO, &value);
    return value;
}
