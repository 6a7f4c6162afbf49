// The library's own sources for the device: they are compiled a second time, as they are, so that every formula is written
// once. What such a source holds for itself is `static`; what it shares is marked in its header (PZ_DEVICE). Arithmetic is
// the same to the bit when multiply-adds are not fused (-fmad=false), since all operations are IEEE 754 and sines are own.
//
// A function of such a source does not return a struct from several places that is then looked at through its address: CUDA
// 13.0 may give it the memory of another one that is still in use. It fills one that it is handed.
//
//   #include "device_sources.h"
//   #include "device_begin.h"
//   #include "num/trig.c"
//   #include "device_end.h"
#ifndef POISE_CUDA_DEVICE_SOURCES_H
#define POISE_CUDA_DEVICE_SOURCES_H

// headers of the system come first: they are not meant
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// words of C that C++ spells otherwise
#define restrict __restrict__
#define _Static_assert static_assert

// Each source has its own copy of what it includes. `static` becomes the device's in device_begin.h; a source may have said
// more about functions that are marked.
#ifndef PZ_DEVICE
#define PZ_DEVICE static
#endif

#endif
