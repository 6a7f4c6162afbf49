// A motion for a small skeleton that is made once.
#include "fuzz.h"

#include <string.h>

static const char skeleton[] = ":units\nlength 0.45\nangle deg\n:root\norder TX TY TZ RX RY RZ\naxis XYZ\n:bonedata\n"
                               "begin\nname a\ndirection 0 1 0\nlength 1\naxis 0 0 20 XYZ\ndof rx ry rz\nend\n"
                               "begin\nname b\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx\nend\n"
                               ":hierarchy\nroot a\na b\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static poise_file *file;
    if (!file) {
        poise_read(skeleton, strlen(skeleton), NULL, NULL, &file, NULL);
    }
    poise_file_destroy(fuzz_read(POISE_FORMAT_AMC, file->model, data, size));
    return 0;
}
