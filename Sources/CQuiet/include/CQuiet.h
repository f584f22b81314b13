#pragma once

/* Makes what a loaded library writes to `stderr` go nowhere; the stream itself, and everybody else who
   writes to it, are left alone.

   `library` is the beginning of the file's name, such as "libjxl.so". Returns whether a library of this
   name was found that writes there, now or by an earlier call. May be called from any thread, before the
   library is used. */
int cquiet_silence(const char *library);
