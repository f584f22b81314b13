#pragma once
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>
