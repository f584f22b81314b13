import Halcyon

enum LoadHelp {
    static var discussion: String {
        """
        Each source is looked up in the cache, loaded if it is not there, processed, cached and, if \
        you say where, written. One that fails does not stop the others. Of files, data URIs and \
        standard input only what processors make is cached.

        EXAMPLES:
          halcyon load bird.jpg --processor downsample:400x400 --output bird.webp
          halcyon load https://example.org/a.jpg https://example.org/b.jpg \\
            --processor resize:320x200:fill --processor crop:320x200 \\
            --processor round:12 --output-directory thumbnails --format png
          halcyon load -r Pictures --output-directory small --format webp
          halcyon load photo.jpg --output photo.webp --max-bytes 200k
          halcyon load -r --watch Uploads --output-directory small --format webp
          halcyon load --json https://example.org/a.jpg | jq .cacheType
          curl https://example.org/a.jpg | halcyon load - -o - --format webp >a.webp
          halcyon load 'data:image/svg+xml,%3Csvg …%3E' --output drawing.png

        PROCESSORS (lengths in pixels, several may be joined by |>):
        \(processors)

        JSON: one object per source and line, in the order of the sources:
          source, cacheKey
          cacheType     where it was found: none, memory or disk
          format        of the file that was loaded, or of the cached file
          width, height, frames
          bytes         of the file that was loaded, or of the cached file
          milliseconds  until the image was there, without writing it
          output        the file that was written, or null
        and with --max-bytes or --target-ssim, of that file
          quality, outputBytes, ssim
        and with --http-caching, for what is loaded over HTTP:
          httpCacheUse  fetched, or fetched-not-stored where the server forbids that;
                        fresh: the server was not asked; validated: it says that the
                        cached image is still good; stale-error: its time is over, but
                        the server failed; stale-accepted, by --only-from-cache
          staleError    with stale-error, what failed: { code, message }
        or, with --no-clobber, for one whose output exists
          source, status: skipped, output
        or
          source, error: { code, message }
        The codes are those of KingfisherError, and 9001 (the format cannot hold the image), \
        9002 (the output cannot be written), 9000 (anything else).

        EXIT CODES: 0 all loaded, 1 some failed, 64 bad usage, 78 a fault in the file of defaults, \
        130 stopped by Ctrl-C. With --watch 0 when a signal ends it, after the pictures at hand.
        """
    }

    private static var processors: String {
        ImageProcessorSpec.reference
            .map { form, summary in
                let lines = summary.wrapped(to: 72).map { "      \($0)" }
                return (["  \(form)"] + lines).joined(separator: "\n")
            }
            .joined(separator: "\n")
    }
}
