#include "device_seam.h"

#include <stddef.h>

static const device *joined;

const device *device_now(void)
{
    return joined;
}

void device_join(const device *d)
{
    joined = d;
}
