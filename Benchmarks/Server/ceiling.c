// What libvips alone does of the work of an image server: reads a file, decodes as little of it as it can,
// reduces the rest and encodes the result, with one thread for each core and without HTTP.
//
// usage: ceiling LIST SECONDS THREADS     prints answers, seconds, processor seconds and errors
//        ceiling LIST -w FILE             writes the first picture of the list
//
// A line of the list is WIDTH SUFFIX FILE; the suffix has the encoder's options, such as .jpg[Q=80].

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <vips/vips.h>

typedef struct {
    int width;
    char suffix[256], file[4096];
} Order;

static Order *orders;
static int order_count;
static double end;
static atomic_long next_order, answers, errors;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void read_list(const char *path) {
    FILE *list = fopen(path, "r");
    Order order;
    while (list && fscanf(list, "%d %255s %4095[^\n]", &order.width, order.suffix, order.file) == 3) {
        orders = realloc(orders, (order_count + 1) * sizeof *orders);
        orders[order_count++] = order;
    }
    if (order_count == 0) {
        fprintf(stderr, "ceiling: nothing to do in %s\n", path);
        exit(64);
    }
    fclose(list);
}

// The file's picture at no less than the width, and as near to it as the decoder can make it.
static VipsImage *decoded(const Order *order, VipsImage *header) {
    const char *loader = vips_foreign_find_load(order->file);
    char options[4300];
    if (loader && strstr(loader, "Jpeg")) {
        int shrink = 8;
        while (shrink > 1 && header->Xsize / shrink < order->width) shrink /= 2;
        snprintf(options, sizeof options, "%s[shrink=%d,access=sequential]", order->file, shrink);
    } else if (loader && strstr(loader, "Webp")) {
        double scale = (double)order->width / header->Xsize;
        snprintf(options, sizeof options, "%s[scale=%.9f,access=sequential]", order->file, scale);
    } else {
        snprintf(options, sizeof options, "%s[access=sequential]", order->file);
    }
    return vips_image_new_from_file(options, NULL);
}

static VipsImage *reduced(const Order *order) {
    VipsImage *header = vips_image_new_from_file(order->file, NULL), *result = NULL;
    if (!header) return NULL;
    if (vips_image_get_n_pages(header) > 1) {
        // The only operation that knows that the frames stand below each other.
        char all[4200];
        snprintf(all, sizeof all, "%s[n=-1]", order->file);
        if (vips_thumbnail(all, &result, order->width, NULL)) result = NULL;
    } else {
        VipsImage *source = decoded(order, header);
        if (source && vips_resize(source, &result, (double)order->width / source->Xsize, NULL))
            result = NULL;
        if (source) g_object_unref(source);
    }
    g_object_unref(header);
    return result;
}

static int make(const Order *order, void **bytes, size_t *length) {
    VipsImage *image = reduced(order);
    if (!image) return -1;
    int failed = vips_image_write_to_buffer(image, order->suffix, bytes, length, NULL);
    g_object_unref(image);
    return failed;
}

static void *work(void *unused) {
    while (now() < end) {
        void *bytes;
        size_t length;
        long number = atomic_fetch_add(&next_order, 1);
        if (make(&orders[number % order_count], &bytes, &length) == 0) {
            g_free(bytes);
            atomic_fetch_add(&answers, 1);
        } else {
            atomic_fetch_add(&errors, 1);
        }
    }
    vips_thread_shutdown();
    return unused;
}

static int write_first(const char *path) {
    void *bytes;
    size_t length;
    if (make(&orders[0], &bytes, &length)) {
        fprintf(stderr, "ceiling: %s", vips_error_buffer());
        return 1;
    }
    FILE *file = fopen(path, "wb");
    int failed = !file || fwrite(bytes, 1, length, file) != length;
    return (file && fclose(file)) || failed;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: ceiling LIST SECONDS THREADS\n       ceiling LIST -w FILE\n");
        return 64;
    }
    if (VIPS_INIT(arguments[0])) return 1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    read_list(arguments[1]);
    if (strcmp(arguments[2], "-w") == 0) return write_first(arguments[3]);
    int threads = atoi(arguments[3]);
    pthread_t handles[threads];
    double start = now();
    end = start + atof(arguments[2]);
    for (int index = 0; index < threads; index++) pthread_create(&handles[index], NULL, work, NULL);
    for (int index = 0; index < threads; index++) pthread_join(handles[index], NULL);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double processor = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%ld %f %f %ld\n", answers, now() - start, processor, errors);
    return 0;
}
