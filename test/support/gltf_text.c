#include "gltf_text.h"

#include "test_main.h"

#include <math.h>
#include <string.h>

char *gltf_text_uri(const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char head[] = "data:application/octet-stream;base64,";
    const unsigned char *b = bytes;
    char *text = malloc(sizeof head + (size + 2) / 3 * 4), *at = text + sizeof head - 1;
    memcpy(text, head, sizeof head);
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = (unsigned)b[i] << 16 | (i + 1 < size ? (unsigned)b[i + 1] << 8 : 0) | (i + 2 < size ? b[i + 2] : 0u);
        *at++ = digits[bits >> 18];
        *at++ = digits[bits >> 12 & 63];
        *at++ = i + 1 < size ? digits[bits >> 6 & 63] : '=';
        *at++ = i + 2 < size ? digits[bits & 63] : '=';
    }
    *at = '\0';
    return text;
}

char *gltf_text_animated(int node, const char *path, const char *more, const float *times, int count, const float *values,
                         int components, int per_key, const char *extra)
{
    size_t time_size = (size_t)count * sizeof *times;
    size_t value_size = (size_t)(count * components * per_key) * sizeof *values;
    unsigned char *bytes = malloc(time_size + value_size);
    memcpy(bytes, times, time_size);
    memcpy(bytes + time_size, values, value_size);
    char *uri = gltf_text_uri(bytes, time_size + value_size);
    size_t room = strlen(uri) + 2000;
    char *text = malloc(room);
    snprintf(
        text, room,
        "{\"asset\": {\"version\": \"2.0\"},\n"
        "\"nodes\": [{\"name\": \"a\", \"children\": [1]},\n"
        "  {\"name\": \"b\", \"translation\": [0, 2, 0], \"rotation\": [0.7071067811865476, 0, 0, 0.7071067811865476]}],\n"
        "\"skins\": [{\"joints\": [0]}],\n"
        "\"animations\": [{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": %d, \"path\": \"%s\"}}],\n"
        "  \"samplers\": [{\"input\": 0, \"output\": 1%s}]}],\n"
        "%s"
        "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": %d, \"type\": \"SCALAR\"},\n"
        "  {\"bufferView\": 1, \"componentType\": 5126, \"count\": %d, \"type\": \"%s\"}],\n"
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": %zu}, {\"buffer\": 0, \"byteOffset\": %zu, \"byteLength\": "
        "%zu}],\n"
        "\"buffers\": [{\"byteLength\": %zu, \"uri\": \"%s\"}]}\n",
        node, path, more, extra, count, count * per_key,
        components == 4   ? "VEC4"
        : components == 3 ? "VEC3"
                          : "SCALAR",
        time_size, time_size, value_size, time_size + value_size, uri);
    free(uri);
    free(bytes);
    test_own(free, text);
    return text;
}

void gltf_check_vec3(poise_vec3 v, double x, double y, double z, double tolerance)
{
    bool is_near = fabs(v.x - x) <= tolerance && fabs(v.y - y) <= tolerance && fabs(v.z - z) <= tolerance;
    ck_assert_msg(is_near, "%.17g %.17g %.17g, not %g %g %g", v.x, v.y, v.z, x, y, z);
}

double gltf_angle(poise_quat a, poise_quat b)
{
    double na = sqrt(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w),
           nb = sqrt(b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w);
    double sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0 ? -1 : 1;
    double d[] = {a.x / na - sign * b.x / nb, a.y / na - sign * b.y / nb, a.z / na - sign * b.z / nb,
                  a.w / na - sign * b.w / nb};
    return 2 * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
}
