// After the last source of the library: the host's own words again.
#undef memcmp
#undef memcpy
#undef memset

#include "device_end.h"

#undef POISE_API
#define POISE_API
