// glTF: buffers, their views, and accessors, the arrays of numbers in them.
#include "io/gltf/gltf.h"

#include "base/letters.h"

#include <limits.h>
#include <string.h>

poise_status pz_gltf_charge(pz_gltf *gltf, const pz_item *item, double count)
{
    if (count > (double)gltf->numbers_left) {
        return pz_json_fail(item, POISE_ERROR_UNSUPPORTED,
                            "asks for %g numbers, far more than the file holds; resample the animation with fewer keys",
                            count);
    }
    gltf->numbers_left -= (size_t)count;
    return POISE_OK;
}

poise_status pz_gltf_index(const pz_item *item, const pz_item *list, int *index)
{
    poise_status status = pz_json_integer(item, 0, INT_MAX, index);
    if (status == POISE_OK && (size_t)*index >= pz_json_length(list)) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "there is no %s[%d]; the file has %d", list->key, *index,
                            (int)pz_json_length(list));
    }
    return status;
}

// ---- Buffers -------------------------------------------------------------------------------------------------------------

// Value of a base64 digit (RFC 4648), or -1.
static int base64_digit(char c)
{
    if (is_upper(c)) {
        return c - 'A';
    }
    if (is_lower(c)) {
        return c - 'a' + 26;
    }
    if (is_digit(c)) {
        return c - '0' + 52;
    }
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static poise_status decode_base64(pz_gltf *gltf, const pz_item *item, const char *text, pz_gltf_buffer *buffer)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '=') {
        length -= 1;
    }
    unsigned char *bytes = pz_pool_take(&gltf->input->pool, length / 4 * 3 + 3, 1);
    if (!bytes) {
        return pz_input_no_memory(gltf->input);
    }
    size_t size = 0;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < length; ++i) {
        int digit = base64_digit(text[i]);
        if (digit < 0) {
            return pz_json_fail(item, POISE_ERROR_FORMAT, "character %d of the data is not base64", (int)(i + 1));
        }
        bits = (bits << 6 | (unsigned)digit) & 0xFFFFu;
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes[size++] = (unsigned char)(bits >> held);
        }
    }
    buffer->bytes = bytes;
    buffer->size = size;
    return POISE_OK;
}

// The name of a file in a URI: %20 is a space (RFC 3986).
static char *file_name(pz_pool *pool, const char *uri)
{
    char *name = pz_pool_copy(pool, uri, strlen(uri));
    if (!name) {
        return NULL;
    }
    char *to = name;
    for (const char *at = uri; *at; ++to) {
        int high = *at == '%' ? hex_digit(at[1]) : -1;
        int low = high >= 0 ? hex_digit(at[2]) : -1;
        bool is_escape = low >= 0 && high * 16 + low > 0;
        *to = is_escape ? (char)(high * 16 + low) : *at;
        at += is_escape ? 3 : 1;
    }
    *to = '\0';
    return name;
}

static poise_status load_file(pz_gltf *gltf, const pz_item *item, const char *uri, pz_gltf_buffer *buffer)
{
    const poise_read_options *options = gltf->input->options;
    if (!options->load) {
        pz_json_warn(item, "\"%s\" is another file, which needs options.load; no clip is read", uri);
        buffer->is_missing = true;
        return POISE_OK;
    }
    const char *name = file_name(&gltf->input->pool, uri);
    if (!name) {
        return pz_input_no_memory(gltf->input);
    }
    const void *bytes = NULL;
    poise_status status = options->load(options->user, name, &bytes, &buffer->size);
    if (status != POISE_OK || (!bytes && buffer->size > 0)) {
        return pz_json_fail(item, status != POISE_OK ? status : POISE_ERROR_NOT_FOUND, "cannot load the file \"%s\"", name);
    }
    buffer->bytes = bytes ? bytes : (const void *)"";
    gltf->numbers_left += PZ_GLTF_NUMBERS_PER_BYTE * buffer->size;
    return POISE_OK;
}

static poise_status fetch(pz_gltf *gltf, const pz_item *item, int index, pz_gltf_buffer *buffer)
{
    buffer->is_fetched = true;
    const char *uri = NULL;
    poise_status status = pz_json_need_object(item);
    if (status == POISE_OK) {
        status = pz_json_string_of(item, "uri", &uri);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (!uri) {
        if (index != 0 || !gltf->binary) {
            return pz_json_fail(item, POISE_ERROR_FORMAT, "no data: it has neither a uri nor the binary chunk of a GLB");
        }
        buffer->bytes = gltf->binary;
        buffer->size = gltf->binary_size;
        return POISE_OK;
    }
    pz_item place = pz_json_get(item, "uri");
    if (strncmp(uri, "data:", 5) != 0) {
        return load_file(gltf, &place, uri, buffer);
    }
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || strncmp(comma - 7, ";base64", 7) != 0) {
        return pz_json_fail(&place, POISE_ERROR_UNSUPPORTED, "data that is not base64; write data:...;base64,...");
    }
    return decode_base64(gltf, &place, comma + 1, buffer);
}

poise_status pz_gltf_fetch(pz_gltf *gltf, int index, const pz_gltf_buffer **buffer)
{
    pz_item buffers = pz_json_get(&gltf->root, "buffers");
    size_t count = pz_json_length(&buffers);
    if (!gltf->buffers) {
        gltf->buffers = pz_pool_take(&gltf->input->pool, count, sizeof *gltf->buffers);
        if (!gltf->buffers) {
            return pz_input_no_memory(gltf->input);
        }
        memset(gltf->buffers, 0, count * sizeof *gltf->buffers);
    }
    *buffer = &gltf->buffers[index];
    pz_item item = pz_json_at(&buffers, (size_t)index);
    return (*buffer)->is_fetched ? POISE_OK : fetch(gltf, &item, index, &gltf->buffers[index]);
}

static poise_status buffer_of(pz_gltf *gltf, const pz_item *reference, const pz_gltf_buffer **buffer)
{
    pz_item buffers = pz_json_get(&gltf->root, "buffers");
    int index = 0;
    poise_status status = pz_gltf_index(reference, &buffers, &index);
    return status == POISE_OK ? pz_gltf_fetch(gltf, index, buffer) : status;
}

// ---- Accessors -----------------------------------------------------------------------------------------------------------

typedef struct layout {
    int component_type; // GL's number
    size_t width;       // of a component, bytes
    bool normalized;
} layout;

// Elements in a buffer.
typedef struct strip {
    const unsigned char *bytes; // NULL: in a file that was not handed in
    size_t stride;
} strip;

// `count` elements of `width` bytes, from `offset` in the view that `reference` is the index of.
static poise_status read_view(pz_gltf *gltf, const pz_item *reference, size_t offset, size_t width, size_t count,
                              strip *elements)
{
    pz_item views = pz_json_get(&gltf->root, "bufferViews");
    int index = 0;
    poise_status status = pz_gltf_index(reference, &views, &index);
    if (status != POISE_OK) {
        return status;
    }
    pz_item view = pz_json_at(&views, (size_t)index);
    status = pz_json_need_object(&view);
    int first = 0, length = 0, stride = 0;
    pz_item at = pz_json_get(&view, "buffer"), length_at = pz_json_get(&view, "byteLength");
    status = status == POISE_OK ? pz_json_integer_of(&view, "byteOffset", 0, INT_MAX, &first) : status;
    status = status == POISE_OK ? pz_json_integer(&length_at, 0, INT_MAX, &length) : status;
    status = status == POISE_OK ? pz_json_integer_of(&view, "byteStride", 0, INT_MAX, &stride) : status;
    const pz_gltf_buffer *buffer = NULL;
    status = status == POISE_OK ? buffer_of(gltf, &at, &buffer) : status;
    if (status != POISE_OK) {
        return status;
    }
    elements->stride = stride > 0 ? (size_t)stride : width;
    elements->bytes = NULL;
    if (buffer->is_missing) {
        return POISE_OK;
    }
    if ((size_t)first > buffer->size || (size_t)length > buffer->size - (size_t)first) {
        return pz_json_fail(&view, POISE_ERROR_FORMAT, "bytes %d to %u of a buffer of %u bytes", first,
                            (unsigned)first + (unsigned)length, (unsigned)buffer->size);
    }
    // in double: no product here overflows, and all that count are far below 2^53
    double end = (double)offset + (count > 0 ? (double)(count - 1) * (double)elements->stride + (double)width : 0.0);
    if (end > (double)length) {
        return pz_json_fail(reference, POISE_ERROR_FORMAT, "%d elements end at byte %g of a view that has %d", (int)count,
                            end, length);
    }
    elements->bytes = buffer->bytes + first + offset;
    return POISE_OK;
}

static double component(const unsigned char *at, layout how)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < how.width; ++i) {
        bits |= (uint32_t)at[i] << (8 * i);
    }
    float real;
    double scaled;
    switch (how.component_type) {
    case 5120:
        scaled = (double)(int8_t)bits / 127.0;
        return !how.normalized ? (double)(int8_t)bits : scaled < -1.0 ? -1.0 : scaled;
    case 5121:
        return how.normalized ? (double)bits / 255.0 : (double)bits;
    case 5122:
        scaled = (double)(int16_t)bits / 32767.0;
        return !how.normalized ? (double)(int16_t)bits : scaled < -1.0 ? -1.0 : scaled;
    case 5123:
        return how.normalized ? (double)bits / 65535.0 : (double)bits;
    case 5125:
        return (double)bits;
    default:
        memcpy(&real, &bits, sizeof real);
        return (double)real;
    }
}

static poise_status read_component_type(const pz_item *object, layout *how)
{
    pz_item item = pz_json_get(object, "componentType");
    poise_status status = pz_json_integer(&item, 0, INT_MAX, &how->component_type);
    if (status != POISE_OK) {
        return status;
    }
    switch (how->component_type) {
    case 5120:
    case 5121:
        how->width = 1;
        return POISE_OK;
    case 5122:
    case 5123:
        how->width = 2;
        return POISE_OK;
    case 5125:
    case 5126:
        how->width = 4;
        return POISE_OK;
    default:
        return pz_json_fail(&item, POISE_ERROR_FORMAT,
                            "%d is not a component type: 5120 to 5123 are bytes and shorts, 5125 unsigned int, 5126 float",
                            how->component_type);
    }
}

static poise_status decode(const pz_item *item, strip from, layout how, pz_gltf_array *array, const size_t *places,
                           size_t count)
{
    size_t n = (size_t)array->components;
    for (size_t i = 0; i < count; ++i) {
        const unsigned char *at = from.bytes + i * from.stride;
        double *to = array->values + (places ? places[i] : i) * n;
        for (size_t k = 0; k < n; ++k) {
            to[k] = component(at + k * how.width, how);
            if (!is_finite(to[k])) {
                return pz_json_fail(item, POISE_ERROR_FORMAT, "element %d is not finite", (int)i);
            }
        }
    }
    return POISE_OK;
}

// Elements that replace some of those of the view, or of zeros.
static poise_status read_sparse(pz_gltf *gltf, const pz_item *sparse, layout how, pz_gltf_array *array)
{
    int count = 0;
    poise_status status = pz_json_need_object(sparse);
    pz_item count_at = pz_json_get(sparse, "count");
    pz_item indices = pz_json_get(sparse, "indices"), values = pz_json_get(sparse, "values");
    status = status == POISE_OK ? pz_json_integer(&count_at, 0, INT_MAX, &count) : status;
    status = status == POISE_OK ? pz_json_need_object(&indices) : status;
    status = status == POISE_OK ? pz_json_need_object(&values) : status;
    status = status == POISE_OK ? pz_gltf_charge(gltf, sparse, (double)count) : status;
    layout index_layout = {0};
    status = status == POISE_OK ? read_component_type(&indices, &index_layout) : status;
    int index_offset = 0, value_offset = 0;
    status = status == POISE_OK ? pz_json_integer_of(&indices, "byteOffset", 0, INT_MAX, &index_offset) : status;
    status = status == POISE_OK ? pz_json_integer_of(&values, "byteOffset", 0, INT_MAX, &value_offset) : status;
    strip index_strip = {0}, value_strip = {0};
    pz_item index_view = pz_json_get(&indices, "bufferView"), value_view = pz_json_get(&values, "bufferView");
    size_t width = (size_t)array->components * how.width;
    if (status == POISE_OK) {
        status = read_view(gltf, &index_view, (size_t)index_offset, index_layout.width, (size_t)count, &index_strip);
    }
    if (status == POISE_OK) {
        status = read_view(gltf, &value_view, (size_t)value_offset, width, (size_t)count, &value_strip);
    }
    size_t *places = status == POISE_OK ? pz_pool_take(&gltf->input->pool, (size_t)count, sizeof *places) : NULL;
    if (status != POISE_OK || !places) {
        return status != POISE_OK ? status : pz_input_no_memory(gltf->input);
    }
    if (!index_strip.bytes || !value_strip.bytes) {
        array->values = NULL;
        return POISE_OK;
    }
    for (size_t i = 0; i < (size_t)count; ++i) {
        double place = component(index_strip.bytes + i * index_strip.stride, index_layout);
        if (!(place >= 0 && place < (double)array->count)) {
            return pz_json_fail(&indices, POISE_ERROR_FORMAT, "there is no element %g to replace; there are %d", place,
                                (int)array->count);
        }
        places[i] = (size_t)place;
    }
    return decode(sparse, value_strip, how, array, places, (size_t)count);
}

static int components_of(const char *type)
{
    static const struct {
        const char *name;
        int components;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 4}, {"MAT3", 9}, {"MAT4", 16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        if (strcmp(type, types[i].name) == 0) {
            return types[i].components;
        }
    }
    return 0;
}

static poise_status read_accessor(pz_gltf *gltf, const pz_item *item, pz_gltf_array *array)
{
    const char *type = NULL;
    layout how = {0};
    int count = 0, offset = 0;
    poise_status status = pz_json_need_object(item);
    pz_item type_at = pz_json_get(item, "type"), count_at = pz_json_get(item, "count");
    status = status == POISE_OK ? pz_json_string(&type_at, &type) : status;
    status = status == POISE_OK ? pz_json_integer(&count_at, 0, INT_MAX, &count) : status;
    status = status == POISE_OK ? pz_json_integer_of(item, "byteOffset", 0, INT_MAX, &offset) : status;
    status = status == POISE_OK ? read_component_type(item, &how) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_item normalized = pz_json_get(item, "normalized");
    how.normalized = pz_json_is(normalized.value, PZ_JSON_TRUE);
    array->components = components_of(type);
    array->count = (size_t)count;
    if (array->components == 0) {
        return pz_json_fail(&type_at, POISE_ERROR_FORMAT, "%s is not an element type", type);
    }
    status = pz_gltf_charge(gltf, item, (double)count * array->components);
    size_t numbers = (size_t)count * (size_t)array->components;
    array->values = status == POISE_OK ? pz_pool_take(&gltf->input->pool, numbers, sizeof(double)) : NULL;
    if (!array->values) {
        return status != POISE_OK ? status : pz_input_no_memory(gltf->input);
    }
    memset(array->values, 0, numbers * sizeof(double));
    pz_item view = pz_json_get(item, "bufferView"), sparse = pz_json_get(item, "sparse");
    if (view.value) {
        strip elements = {0};
        status = read_view(gltf, &view, (size_t)offset, (size_t)array->components * how.width, (size_t)count, &elements);
        if (status == POISE_OK && elements.bytes) {
            status = decode(item, elements, how, array, NULL, (size_t)count);
        }
        array->values = elements.bytes ? array->values : NULL;
    }
    return status == POISE_OK && sparse.value && array->values ? read_sparse(gltf, &sparse, how, array) : status;
}

poise_status pz_gltf_accessor(pz_gltf *gltf, const pz_item *reference, int components, pz_gltf_array *array)
{
    pz_item accessors = pz_json_get(&gltf->root, "accessors");
    size_t count = pz_json_length(&accessors);
    int index = 0;
    poise_status status = pz_gltf_index(reference, &accessors, &index);
    if (status != POISE_OK) {
        return status;
    }
    if (!gltf->arrays) {
        gltf->arrays = pz_pool_take(&gltf->input->pool, count, sizeof *gltf->arrays);
        if (!gltf->arrays) {
            return pz_input_no_memory(gltf->input);
        }
        memset(gltf->arrays, 0, count * sizeof *gltf->arrays);
    }
    pz_gltf_array *decoded = &gltf->arrays[index];
    pz_item item = pz_json_at(&accessors, (size_t)index);
    status = decoded->components == 0 ? read_accessor(gltf, &item, decoded) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    if (decoded->components != components) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "%d numbers per element instead of %d", decoded->components,
                            components);
    }
    *array = *decoded;
    return pz_gltf_charge(gltf, &item, (double)decoded->count); // whoever asked will walk over it
}
