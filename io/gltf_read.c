// Reading glTF 2.0, text and binary: nodes become joints, one animation becomes a clip (gltf_clip.c).
//
// Every node is a joint with a body of the same name; its rest transform is the joint's offset, so that the neutral
// configuration is the pose in the file. What moves by an animation, joints of skins and bones of a VRM get freedom:
//
//   turns, or is such a joint or bone BALL_QUATERNION
//   moves as well                     FREE, axes along the parent's
//   moves only                        TRANSLATION, axes along the parent's
//   neither                           FIXED
//
// With options.floating the skeleton moves as a whole: the joint of a skin that carries most of the others gets FREE, unless
// it or a node above it moves already.
//
// Lengths are metres, y points upwards. What a file holds beside skeleton and clip (meshes, skins, materials, other
// animations) is kept, to be written again.
//
// Warned of: scales that mirror or differ by axis, names that are not unique, extensions that are not supported, keys
// without a common spacing.
// Refused: a container that ends early, each with its byte; buffers that cannot be loaded; accessors beyond their buffers;
// key frames that are zero quaternions or not finite.
#include "io/gltf.h"

#include "base/text.h"

#include <limits.h>
#include <string.h>

// ---- The binary container ------------------------------------------------------------------------------------------------

#define GLB_HEADER 12
#define GLB_CHUNK  8
#define CHUNK_JSON 0x4E4F534Au
#define CHUNK_BIN  0x004E4942u

static uint32_t word_at(const unsigned char *at)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): inside the bytes handed in
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static poise_status check_header(pz_input *input, size_t *size)
{
    const unsigned char *bytes = input->bytes;
    if (input->size < GLB_HEADER) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %d: the file ends inside its header of 12 bytes",
                             (int)input->size);
    }
    if (memcmp(bytes, "glTF", 4) != 0) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte 0: a GLB must begin with the letters glTF");
    }
    if (word_at(bytes + 4) != 2) {
        return pz_input_fail(input, POISE_ERROR_UNSUPPORTED, 0, "byte 4: version %g; only version 2 is supported",
                             (double)word_at(bytes + 4));
    }
    size_t length = word_at(bytes + 8);
    if (length > input->size || length < GLB_HEADER + GLB_CHUNK) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte 8: the stated length is %u bytes; the file has %u",
                             (unsigned)length, (unsigned)input->size);
    }
    if (length < input->size) {
        pz_input_warn(input, 0, "byte %g: there is data after the end of the file; it is ignored", (double)length);
    }
    *size = length;
    return POISE_OK;
}

// Find the JSON chunk, which comes first, and the BIN chunk, which may follow. Chunks of other types are to be ignored.
static poise_status read_chunks(pz_gltf *gltf, size_t *json, size_t *json_size)
{
    pz_input *input = gltf->input;
    size_t size = 0;
    poise_status status = check_header(input, &size);
    *json_size = 0;
    for (size_t at = GLB_HEADER; status == POISE_OK && at < size;) {
        if (size - at < GLB_CHUNK) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %u: the file ends inside the header of a chunk",
                                 (unsigned)at);
        }
        size_t length = word_at(input->bytes + at);
        uint32_t type = word_at(input->bytes + at + 4);
        at += GLB_CHUNK;
        if (length > size - at) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %u: a chunk of %u bytes, but only %u follow",
                                 (unsigned)at, (unsigned)length, (unsigned)(size - at));
        }
        if (at == GLB_HEADER + GLB_CHUNK && type != CHUNK_JSON) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %g: the first chunk must be JSON", (double)at - 4);
        }
        if (length % 4 != 0) {
            pz_input_warn(input, 0, "byte %g: the length of a chunk is not a multiple of 4", (double)at - 8);
        }
        if (type == CHUNK_JSON && *json_size == 0) {
            *json = at;
            *json_size = length;
        } else if (type == CHUNK_BIN && !gltf->binary) {
            gltf->binary = input->bytes + at;
            gltf->binary_size = length;
        } else if (type == CHUNK_JSON || type == CHUNK_BIN) {
            pz_input_warn(input, 0, "byte %g: a second chunk of the same type; left out", (double)at - 8);
        }
        at += length;
    }
    return status;
}

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

// The bytes of a buffer, fetched at first use.
static poise_status gltf_fetch(pz_gltf *gltf, int index, const pz_gltf_buffer **buffer)
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
    return status == POISE_OK ? gltf_fetch(gltf, index, buffer) : status;
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
    float single;
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
        memcpy(&single, &bits, sizeof single);
        return (double)single;
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

// ---- Nodes and skins -----------------------------------------------------------------------------------------------------

// How far the three scales of a node may differ from each other, and two columns of a matrix from orthogonal: the rounding
// of exporters that work in single precision.
#define UNIFORM    1e-4
#define ORTHOGONAL 1e-4

// ---- Transforms ----------------------------------------------------------------------------------------------------------

// The rotation of three columns by Gram and Schmidt; false when they have no volume.
static bool orthonormal(vec3 columns[3])
{
    for (int i = 0; i < 3; ++i) {
        vec3 before = columns[i];
        for (int k = 0; k < i; ++k) {
            columns[i] = v3_mad(columns[i], -v3_dot(columns[i], columns[k]), columns[k]);
        }
        if (!(v3_norm(columns[i]) > 1e-6 * v3_norm(before))) {
            return false;
        }
        columns[i] = v3_normalize(columns[i]);
    }
    return true;
}

// M = T R S: the columns of R are those of M over their lengths. A mirror (negative determinant) is taken as three negative
// scales, so that a uniform one stays uniform.
static poise_status read_matrix(const pz_item *item, pz_gltf_node *node)
{
    double m[16];
    poise_status status = pz_json_numbers(item, m, 16);
    if (status != POISE_OK) {
        return status;
    }
    node->translation = v3(m[12], m[13], m[14]);
    vec3 columns[3] = {v3(m[0], m[1], m[2]), v3(m[4], m[5], m[6]), v3(m[8], m[9], m[10])};
    double sign = v3_dot(v3_cross(columns[0], columns[1]), columns[2]) < 0 ? -1.0 : 1.0;
    double length[3];
    for (int i = 0; i < 3; ++i) {
        length[i] = sign * v3_norm(columns[i]);
        columns[i] = v3_scale(v3_normalize(columns[i]), sign);
    }
    double shear = max2(max2(fabs(v3_dot(columns[0], columns[1])), fabs(v3_dot(columns[1], columns[2]))),
                        fabs(v3_dot(columns[2], columns[0])));
    node->scale = v3(length[0], length[1], length[2]);
    bool has_volume = orthonormal(columns);
    if (!has_volume) {
        pz_json_warn(item, "the matrix is singular; its rotation is left out");
        return POISE_OK;
    }
    if (shear > ORTHOGONAL) {
        pz_json_warn(item, "the matrix shears, which joints do not support; the nearest rotation is used");
    }
    // the third column anew: a determinant of exactly +1, whatever was rounded
    vec3 x = columns[0], y = columns[1], z = v3_cross(x, y);
    node->rotation = quat_normalize(poise_quat_from_matrix((double[]){x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}));
    return POISE_OK;
}

static poise_status read_rotation(const pz_item *object, pz_gltf_node *node)
{
    pz_item item = pz_json_get(object, "rotation");
    double r[4] = {0, 0, 0, 1};
    poise_status status = item.value ? pz_json_numbers(&item, r, 4) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    quat given = {r[0], r[1], r[2], r[3]}, unit = quat_normalize(given);
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "a zero quaternion; [0, 0, 0, 1] means no rotation");
    }
    double length = given.x * unit.x + given.y * unit.y + given.z * unit.z + given.w * unit.w;
    if (!(fabs(length - 1.0) < 1e-3)) {
        pz_json_warn(&item, "a quaternion of length %g; normalised", length);
    }
    node->rotation = unit;
    return POISE_OK;
}

static poise_status read_transform(const pz_item *object, pz_gltf_node *node)
{
    pz_item matrix = pz_json_get(object, "matrix");
    pz_item parts[] = {pz_json_get(object, "translation"), pz_json_get(object, "rotation"), pz_json_get(object, "scale")};
    if (matrix.value) {
        if (parts[0].value || parts[1].value || parts[2].value) {
            pz_json_warn(object, "a matrix together with translation, rotation or scale; the matrix is used");
        }
        return read_matrix(&matrix, node);
    }
    double t[3] = {0, 0, 0}, s[3] = {1, 1, 1};
    poise_status status = parts[0].value ? pz_json_numbers(&parts[0], t, 3) : POISE_OK;
    status = status == POISE_OK && parts[2].value ? pz_json_numbers(&parts[2], s, 3) : status;
    node->translation = v3(t[0], t[1], t[2]);
    node->scale = v3(s[0], s[1], s[2]);
    return status == POISE_OK ? read_rotation(object, node) : status;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

static poise_status read_children(pz_gltf *gltf, const pz_item *object, const pz_item *nodes, int parent)
{
    pz_item children = pz_json_get(object, "children");
    poise_status status = children.value ? pz_json_need_array(&children) : POISE_OK;
    for (size_t i = 0; i < pz_json_length(&children) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&children, i);
        int child = 0;
        status = pz_gltf_index(&item, nodes, &child);
        if (status != POISE_OK) {
            return status;
        }
        pz_gltf_node *node = &gltf->nodes[child];
        if (node->parent != POISE_WORLD || child == parent) {
            return pz_json_fail(&item, POISE_ERROR_FORMAT,
                                "nodes[%d] already has a parent, nodes[%d]; a node can have only one", child,
                                child == parent ? child : node->parent);
        }
        node->parent = parent;
        pz_gltf_node *above = &gltf->nodes[parent];
        if (above->last_child == POISE_WORLD) {
            above->first_child = child;
        } else {
            gltf->nodes[above->last_child].next = child;
        }
        above->last_child = child;
    }
    return status;
}

// Depth first from every root, by the links alone.
static poise_status sort_nodes(pz_gltf *gltf, const pz_item *nodes)
{
    int count = 0;
    for (int root = 0; root < gltf->node_count; ++root) {
        if (gltf->nodes[root].parent != POISE_WORLD) {
            continue;
        }
        int at = root;
        while (at != POISE_WORLD) {
            gltf->nodes[at].joint = count; // visited
            gltf->order[count++] = at;
            int down = gltf->nodes[at].first_child;
            while (down == POISE_WORLD && at != root) {
                down = gltf->nodes[at].next;
                at = gltf->nodes[at].parent;
            }
            at = down;
        }
    }
    for (int i = 0; i < gltf->node_count && count < gltf->node_count; ++i) {
        if (gltf->nodes[i].joint == POISE_WORLD) {
            pz_item item = pz_json_at(nodes, (size_t)i);
            return pz_json_fail(&item, POISE_ERROR_FORMAT, "the node is its own ancestor; break the loop of children");
        }
    }
    return POISE_OK;
}

// What scales make of lengths below them. A uniform scale commutes with rotations, so that it can be multiplied into every
// translation below; another one reaches the translations of its children only.
static void carry_scales(pz_gltf *gltf, const pz_item *nodes)
{
    int warned = 0;
    for (int k = 0; k < gltf->node_count; ++k) {
        int index = gltf->order[k];
        pz_gltf_node *node = &gltf->nodes[index];
        node->carried = v3(1, 1, 1);
        node->reach = 1.0;
        if (node->parent == POISE_WORLD) {
            continue;
        }
        const pz_gltf_node *above = &gltf->nodes[node->parent];
        vec3 s = above->scale;
        double mean = (s.x + s.y + s.z) / 3.0;
        double spread = max2(max2(fabs(s.x - mean), fabs(s.y - mean)), fabs(s.z - mean));
        if (spread <= UNIFORM * fabs(mean)) {
            // exporters leave 0.99999994 where 1 was meant
            node->reach = above->reach * (fabs(mean - 1.0) < 1e-6 ? 1.0 : mean);
            node->carried = v3(node->reach, node->reach, node->reach);
        } else {
            node->reach = above->reach;
            node->carried = v3_scale(s, above->reach);
        }
        bool is_odd = spread > UNIFORM * fabs(mean) || mean < 0;
        if (is_odd && above->first_child == index && warned++ < 5) {
            pz_item item = pz_json_at(nodes, (size_t)node->parent);
            pz_json_warn(&item, "scale %g %g %g %s", s.x, s.y, s.z,
                         mean < 0 && spread <= UNIFORM * fabs(mean)
                             ? "mirrors: positions are carried over, handedness is not"
                             : "is not uniform: it applies only to the offsets of the node's children");
        }
    }
    if (warned > 5) {
        pz_json_warn(nodes, "and %d more scales that cannot be represented", warned - 5);
    }
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *node_name_at(const void *owner, int position)
{
    return ((const pz_gltf_node *)owner)[position].name;
}

// "<name>.<index>", with "_" after it until nobody has it.
static char *other_name(pz_pool *pool, const char *name, int index, const pz_names *names, const pz_gltf_node *nodes)
{
    size_t length = strlen(name);
    for (size_t tail = 0;; ++tail) {
        char *text = pz_pool_take(pool, length + tail + 16, 1);
        if (!text) {
            return NULL;
        }
        memcpy(text, name, length);
        char digits[12];
        size_t d = sizeof digits;
        int left = index;
        do {
            digits[--d] = (char)('0' + left % 10);
            left /= 10;
        } while (left > 0);
        size_t at = length;
        text[at++] = '.';
        memcpy(text + at, digits + d, sizeof digits - d);
        at += sizeof digits - d;
        memset(text + at, '_', tail);
        text[at + tail] = '\0';
        if (pz_names_find(names, text, node_name_at, nodes) < 0) {
            return text;
        }
    }
}

// Names as they are for the first node that bears each, other names for the rest.
static poise_status name_nodes(pz_gltf *gltf, const pz_item *nodes)
{
    pz_pool *pool = &gltf->input->pool;
    size_t count = (size_t)gltf->node_count;
    pz_names names;
    bool *is_named = pz_pool_take(pool, count, sizeof *is_named);
    if (!is_named || !pz_pool_names(pool, count, &names)) {
        return pz_input_no_memory(gltf->input);
    }
    for (int pass = 0, doubles = 0; pass < 2; ++pass) {
        for (int i = 0; i < gltf->node_count; ++i) {
            pz_gltf_node *node = &gltf->nodes[i];
            if (pass == 0) {
                is_named[i] = node->name[0] && pz_names_find(&names, node->name, node_name_at, gltf->nodes) < 0;
            } else if (is_named[i]) {
                continue;
            } else {
                bool is_double = node->name[0] != '\0';
                char *text = other_name(pool, is_double ? node->name : "node", i, &names, gltf->nodes);
                if (!text) {
                    return pz_input_no_memory(gltf->input);
                }
                if (is_double && doubles++ < 5) {
                    pz_item item = pz_json_at(nodes, (size_t)i);
                    pz_json_warn(&item, "another node is called \"%s\"; this one becomes \"%s\"", node->name, text);
                }
                node->name = text;
                is_named[i] = true;
            }
            if (is_named[i]) {
                pz_names_add(&names, node->name, i);
            }
        }
        if (doubles > 5) {
            pz_json_warn(nodes, "and %d more names that are not unique", doubles - 5);
        }
    }
    return POISE_OK;
}

// ---- Skins ---------------------------------------------------------------------------------------------------------------

// Joints must be nodes. Everything else of a skin is for drawing; faults in it are no error here.
static poise_status read_skin(pz_gltf *gltf, const pz_item *skin, const pz_item *nodes)
{
    poise_status status = pz_json_need_object(skin);
    pz_item joints = pz_json_get(skin, "joints");
    status = status == POISE_OK ? pz_json_need_array(&joints) : status;
    for (size_t i = 0; i < pz_json_length(&joints) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&joints, i);
        int node = 0;
        status = pz_gltf_index(&item, nodes, &node);
        if (status == POISE_OK) {
            gltf->nodes[node].is_bone = true;
        }
    }
    if (status != POISE_OK) {
        return status;
    }
    if (pz_json_length(&joints) == 0) {
        pz_json_warn(&joints, "a skin without joints");
    }
    pz_item accessors = pz_json_get(&gltf->root, "accessors"), bind = pz_json_get(skin, "inverseBindMatrices");
    double index = bind.value ? pz_json_as_number(bind.value) : 0;
    if (bind.value && !(index >= 0 && index < (double)pz_json_length(&accessors))) {
        pz_json_warn(&bind, "there is no such accessor; bind matrices are not used");
    } else if (bind.value) {
        pz_item accessor = pz_json_at(&accessors, (size_t)index);
        double matrices = pz_json_as_number(pz_json_find(accessor.value, "count"));
        const char *type = pz_json_as_text(pz_json_find(accessor.value, "type"));
        if (matrices < (double)pz_json_length(&joints) || !type || strcmp(type, "MAT4") != 0) {
            pz_json_warn(&bind, "not a matrix for every joint; bind matrices are not used");
        }
    }
    pz_item skeleton = pz_json_get(skin, "skeleton");
    double root = skeleton.value ? pz_json_as_number(skeleton.value) : 0;
    if (skeleton.value && !(root >= 0 && root < (double)gltf->node_count)) {
        pz_json_warn(&skeleton, "there is no such node");
    }
    return POISE_OK;
}

// Bones of a VRM can turn, whether a skin or single meshes hang from them. Version 0 has a list of them, version 1
// members by name. Faults in them are no error here.
static void read_vrm_bones(pz_gltf *gltf)
{
    pz_item extensions = pz_json_get(&gltf->root, "extensions");
    pz_item old = pz_json_get(&extensions, "VRM"), new = pz_json_get(&extensions, "VRMC_vrm");
    pz_item humanoid = pz_json_get(new.value ? &new : &old, "humanoid"), bones = pz_json_get(&humanoid, "humanBones");
    int members = pz_json_member_count(&bones), count = members > 0 ? members : (int)pz_json_length(&bones);
    for (int i = 0; i < count; ++i) {
        pz_item bone = members > 0 ? pz_json_member(&bones, i) : pz_json_at(&bones, (size_t)i);
        pz_item node = pz_json_get(&bone, "node");
        double index = node.value ? pz_json_as_number(node.value) : -1;
        if (index >= 0 && index < gltf->node_count) {
            gltf->nodes[(int)index].is_bone = true;
        }
    }
}

// ---- Nodes: all ----------------------------------------------------------------------------------------------------------

// A leaf that a writer of Poise marked as a frame on its parent, or that is called "<parent>.tip".
static bool is_tool(const pz_gltf *gltf, const pz_gltf_node *node, const pz_json_value *extras)
{
    if (node->first_child != POISE_WORLD || node->parent == POISE_WORLD || node->is_bone) {
        return false;
    }
    const char *mark = pz_json_as_text(pz_json_find(extras, "poise"));
    const char *above = gltf->nodes[node->parent].name;
    size_t length = strlen(above);
    return (mark && strcmp(mark, "tool") == 0) ||
           (strncmp(node->name, above, length) == 0 && strcmp(node->name + length, ".tip") == 0);
}

static poise_status read_all(pz_gltf *gltf, const pz_item *nodes)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < gltf->node_count; ++i) {
        gltf->nodes[i] = (pz_gltf_node){.name = "",
                                        .parent = POISE_WORLD,
                                        .first_child = POISE_WORLD,
                                        .next = POISE_WORLD,
                                        .last_child = POISE_WORLD,
                                        .rotation = {0, 0, 0, 1},
                                        .joint = POISE_WORLD};
    }
    for (int i = 0; i < gltf->node_count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(nodes, (size_t)i);
        status = pz_json_need_object(&item);
        status = status == POISE_OK ? pz_json_string_of(&item, "name", &gltf->nodes[i].name) : status;
        status = status == POISE_OK ? read_transform(&item, &gltf->nodes[i]) : status;
        status = status == POISE_OK ? read_children(gltf, &item, nodes, i) : status;
    }
    return status;
}

// Nodes with parents, order, scales and names; skins.
static poise_status gltf_read_nodes(pz_gltf *gltf)
{
    pz_item nodes = pz_json_get(&gltf->root, "nodes"), skins = pz_json_get(&gltf->root, "skins");
    poise_status status = nodes.value ? pz_json_need_array(&nodes) : POISE_OK;
    status = status == POISE_OK && skins.value ? pz_json_need_array(&skins) : status;
    if (status != POISE_OK) {
        return status;
    }
    gltf->node_count = (int)pz_json_length(&nodes);
    gltf->nodes = pz_pool_take(&gltf->input->pool, (size_t)gltf->node_count, sizeof *gltf->nodes);
    gltf->order = pz_pool_take(&gltf->input->pool, (size_t)gltf->node_count, sizeof *gltf->order);
    if (!gltf->nodes || !gltf->order) {
        return pz_input_no_memory(gltf->input);
    }
    status = read_all(gltf, &nodes);
    status = status == POISE_OK ? sort_nodes(gltf, &nodes) : status;
    status = status == POISE_OK ? name_nodes(gltf, &nodes) : status;
    for (size_t i = 0; i < pz_json_length(&skins) && status == POISE_OK; ++i) {
        pz_item skin = pz_json_at(&skins, i);
        status = read_skin(gltf, &skin, &nodes);
    }
    read_vrm_bones(gltf);
    if (status != POISE_OK) {
        return status;
    }
    carry_scales(gltf, &nodes);
    for (int i = 0; i < gltf->node_count; ++i) {
        const pz_json_value *extras = pz_json_find(pz_json_element(nodes.value, (size_t)i), "extras");
        gltf->nodes[i].is_tool = is_tool(gltf, &gltf->nodes[i], extras);
    }
    return POISE_OK;
}

// ---- What is kept to be written again ------------------------------------------------------------------------------------

uint64_t pz_gltf_motion_hash(const poise_clip *clip)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    double facts[4] = {clip ? clip->frames : 0, clip ? clip->nq : 0, clip ? clip->frame_time : 0,
                       clip ? clip->start_time : 0};
    size_t numbers = clip ? (size_t)clip->frames * (size_t)clip->nq : 0;
    for (size_t i = 0; i < 4 + numbers; ++i) {
        uint64_t bits;
        memcpy(&bits, i < 4 ? &facts[i] : &clip->q[i - 4], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(1099511628211);
    }
    return hash;
}

// Is a buffer in the file itself, or is there a way to ask for it?
static bool is_at_hand(const pz_gltf *gltf, int index)
{
    pz_item buffers = pz_json_get(&gltf->root, "buffers"), buffer = pz_json_at(&buffers, (size_t)index);
    const char *uri = pz_json_as_text(pz_json_find(buffer.value, "uri"));
    return !uri || strncmp(uri, "data:", 5) == 0 || gltf->input->options->load;
}

static bool keep_buffers(pz_gltf *gltf, pz_gltf_rest *rest)
{
    pz_pool *kept = &gltf->input->kept;
    pz_item buffers = pz_json_get(&gltf->root, "buffers");
    rest->buffer_count = (int)pz_json_length(&buffers);
    rest->base = pz_pool_take(kept, (size_t)rest->buffer_count, sizeof *rest->base);
    rest->is_whole = true;
    size_t size = 0;
    for (int i = 0; i < rest->buffer_count && rest->base; ++i) {
        const pz_gltf_buffer *buffer = NULL;
        if (!is_at_hand(gltf, i) || gltf_fetch(gltf, i, &buffer) != POISE_OK || buffer->is_missing) {
            rest->is_whole = false;
            return true;
        }
        rest->base[i] = size;
        size += (buffer->size + 7) / 8 * 8;
    }
    unsigned char *bytes = pz_pool_take(kept, size, 1);
    if (!bytes || !rest->base) {
        return false;
    }
    memset(bytes, 0, size);
    for (int i = 0; i < rest->buffer_count; ++i) {
        const pz_gltf_buffer *buffer = NULL;
        gltf_fetch(gltf, i, &buffer);
        memcpy(bytes + rest->base[i], buffer->bytes, buffer->size);
    }
    rest->bytes = bytes;
    rest->size = size;
    return true;
}

static bool keep_joints(pz_gltf *gltf, pz_gltf_rest *rest)
{
    pz_pool *kept = &gltf->input->kept;
    size_t joints = (size_t)poise_model_info(gltf->input->file->model).joints;
    rest->joints = (int)joints;
    rest->node = pz_pool_take(kept, joints, sizeof *rest->node);
    rest->name = pz_pool_take(kept, joints, sizeof *rest->name);
    rest->offset = pz_pool_take(kept, joints, sizeof *rest->offset);
    rest->carried = pz_pool_take(kept, joints, sizeof *rest->carried);
    rest->scale = pz_pool_take(kept, joints, sizeof *rest->scale);
    if (!rest->node || !rest->name || !rest->offset || !rest->carried || !rest->scale) {
        return false;
    }
    for (int i = 0; i < gltf->node_count; ++i) {
        const pz_gltf_node *node = &gltf->nodes[i];
        if (!node->is_tool) {
            int k = node->joint;
            rest->node[k] = i;
            rest->name[k] = pz_pool_copy(kept, node->name, strlen(node->name));
            rest->offset[k] = poise_model_joint_info(gltf->input->file->model, k).given->offset;
            rest->carried[k] = node->carried;
            rest->scale[k] = node->scale;
            if (!rest->name[k]) {
                return false;
            }
        }
    }
    return true;
}

// Do all keys of a scale (3 numbers) or of weights say what the node says without them? CUBICSPLINE has a tangent before and
// after each value.
static bool stays(const pz_gltf_array *values, bool is_cubic, size_t n, const double *scale, const pz_json_value *weights)
{
    size_t numbers = values->count * (size_t)values->components;
    for (size_t i = 0; i < numbers; ++i) {
        bool is_tangent = is_cubic && i / n % 3 != 1;
        double rest = is_tangent ? 0 : scale ? scale[i % n] : pz_json_as_number(pz_json_element(weights, i % n));
        if (!(fabs(values->values[i] - rest) <= 1e-4)) {
            return false;
        }
    }
    return true;
}

static bool is_still(pz_gltf *gltf, const pz_item *animation, const pz_item *channel)
{
    pz_item target = pz_json_get(channel, "target"), samplers = pz_json_get(animation, "samplers");
    pz_item nodes = pz_json_get(&gltf->root, "nodes"), meshes = pz_json_get(&gltf->root, "meshes");
    const char *path = pz_json_as_text(pz_json_find(target.value, "path")), *how = NULL;
    pz_item node_at = pz_json_get(&target, "node"), sampler_at = pz_json_get(channel, "sampler");
    bool is_scale = path && strcmp(path, "scale") == 0, is_weights = path && strcmp(path, "weights") == 0;
    int node = 0, sampler = 0;
    if ((!is_scale && !is_weights) || pz_gltf_index(&node_at, &nodes, &node) != POISE_OK ||
        pz_gltf_index(&sampler_at, &samplers, &sampler) != POISE_OK) {
        return false;
    }
    pz_item curve = pz_json_at(&samplers, (size_t)sampler), body = pz_json_at(&nodes, (size_t)node);
    pz_item input = pz_json_get(&curve, "input"), output = pz_json_get(&curve, "output");
    pz_gltf_array times = {0}, values = {0};
    if (pz_gltf_accessor(gltf, &input, 1, &times) != POISE_OK ||
        pz_gltf_accessor(gltf, &output, is_scale ? 3 : 1, &values) != POISE_OK || !values.values || times.count == 0) {
        return false;
    }
    how = pz_json_as_text(pz_json_find(curve.value, "interpolation"));
    bool is_cubic = how && strcmp(how, "CUBICSPLINE") == 0;
    size_t n = is_scale ? 3 : values.count / (times.count * (is_cubic ? 3 : 1));
    const pz_json_value *weights = pz_json_find(body.value, "weights"), *mesh = pz_json_find(body.value, "mesh");
    if (!weights && mesh) {
        weights = pz_json_find(pz_json_element(meshes.value, (size_t)pz_json_as_number(mesh)), "weights");
    }
    vec3 s = gltf->nodes[node].scale;
    return n > 0 && stays(&values, is_cubic, n, is_scale ? (double[]){s.x, s.y, s.z} : NULL, weights);
}

// Names of all animations, and which channels of the clip's stand still. What is wrong with a channel that Poise does not
// read is no error.
static bool keep_animations(pz_gltf *gltf, pz_gltf_rest *rest, poise_carried *carried)
{
    pz_pool *kept = &gltf->input->kept;
    poise_error *error = gltf->input->error;
    pz_item animations = pz_json_get(&gltf->root, "animations");
    pz_item animation = pz_json_at(&animations, (size_t)rest->animation);
    pz_item channels = pz_json_get(&animation, "channels");
    size_t count = pz_json_length(&channels), total = pz_json_length(&animations);
    rest->is_still = pz_pool_take(kept, count, sizeof *rest->is_still);
    carried->animation_name = pz_pool_take(kept, total, sizeof *carried->animation_name);
    bool works = rest->is_still && carried->animation_name;
    gltf->input->error = NULL;
    for (size_t i = 0; i < count && works; ++i) {
        pz_item channel = pz_json_at(&channels, i);
        rest->is_still[i] = is_still(gltf, &animation, &channel);
    }
    gltf->input->error = error;
    for (size_t i = 0; i < total && works; ++i) {
        pz_item item = pz_json_at(&animations, i);
        const char *name = pz_json_as_text(pz_json_find(item.value, "name"));
        carried->animation_name[i] = pz_pool_copy(kept, name ? name : "", name ? strlen(name) : 0);
        works = carried->animation_name[i] != NULL;
    }
    return works;
}

static int count_of(const pz_gltf *gltf, const char *list)
{
    pz_item item = pz_json_get(&gltf->root, list);
    return (int)pz_json_length(&item);
}

// Keep what the document holds beside skeleton and clip, which are read; nothing where there is nothing.
static poise_status gltf_carry(pz_gltf *gltf, const char *text, size_t size)
{
    pz_input *input = gltf->input;
    int meshes = count_of(gltf, "meshes"), animations = count_of(gltf, "animations");
    int materials = count_of(gltf, "materials"), cameras = count_of(gltf, "cameras");
    const pz_json_value *extensions = pz_json_find(gltf->root.value, "extensions"); // such as what makes a VRM one
    int extended = extensions ? (int)extensions->count : 0;
    if (!input->file->model || (meshes == 0 && animations <= 1 && materials == 0 && cameras == 0 && extended == 0)) {
        return POISE_OK;
    }
    poise_carried *carried = pz_pool_take(&input->kept, 1, sizeof *carried);
    pz_gltf_rest *rest = pz_pool_take(&input->kept, 1, sizeof *rest);
    if (!carried || !rest) {
        return pz_input_no_memory(input);
    }
    *rest =
        (pz_gltf_rest){.text_size = size, .animation = gltf->animation, .motion = pz_gltf_motion_hash(input->file->clip)};
    rest->text = pz_pool_copy(&input->kept, text, size);
    if (input->file->clip) {
        const poise_clip *clip = input->file->clip;
        rest->start = clip->start_time;
        rest->end = clip->start_time + (clip->frames - 1) * clip->frame_time;
    }
    if (!rest->text || !keep_buffers(gltf, rest) || !keep_joints(gltf, rest)) {
        return pz_input_no_memory(input);
    }
    *carried = (poise_carried){
        .format = POISE_FORMAT_GLTF, .meshes = meshes, .animations = animations, .animation = gltf->animation, .rest = rest};
    if (!keep_animations(gltf, rest, carried)) {
        return pz_input_no_memory(input);
    }
    poise_error said = {.line = 0};
    pz_carried_say(&said, meshes, meshes == 1 ? "mesh" : "meshe");
    pz_carried_say(&said, materials, "material");
    pz_carried_say(&said, cameras, "camera");
    pz_carried_say(&said, animations - 1, "other animation");
    pz_carried_say(&said, extended, "extension");
    carried->text = pz_pool_copy(&input->kept, said.text, strlen(said.text));
    input->file->carried = carried;
    return carried->text ? POISE_OK : pz_input_no_memory(input);
}

// ---- The document --------------------------------------------------------------------------------------------------------

static poise_status check_asset(const pz_gltf *gltf)
{
    const char *version = NULL, *least = "2.0";
    pz_item asset = pz_json_get(&gltf->root, "asset");
    poise_status status = pz_json_need_object(&asset);
    pz_item version_at = pz_json_get(&asset, "version");
    status = status == POISE_OK ? pz_json_string(&version_at, &version) : status;
    status = status == POISE_OK ? pz_json_string_of(&asset, "minVersion", &least) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (strncmp(version, "2.", 2) != 0 || strcmp(least, "2.0") != 0) {
        return pz_json_fail(&asset, POISE_ERROR_UNSUPPORTED, "version %s; only glTF 2.0 is supported", version);
    }
    return POISE_OK;
}

static void warn_extensions(const pz_gltf *gltf)
{
    pz_item required = pz_json_get(&gltf->root, "extensionsRequired");
    for (size_t i = 0; i < pz_json_length(&required) && i < 5; ++i) {
        pz_item item = pz_json_at(&required, i);
        const char *name = pz_json_as_text(item.value);
        if (name) {
            pz_json_warn(&item, "the extension %s is not supported and is ignored", name);
        }
    }
}

// The name of the scene that is to be shown. Scenes name roots, and all nodes are read, so that they say nothing else.
static poise_status read_title(pz_gltf *gltf)
{
    pz_item scenes = pz_json_get(&gltf->root, "scenes"), reference = pz_json_get(&gltf->root, "scene");
    int index = 0;
    const char *name = NULL;
    poise_status status = reference.value ? pz_gltf_index(&reference, &scenes, &index) : POISE_OK;
    pz_item scene = pz_json_at(&scenes, (size_t)index);
    status = status == POISE_OK && scene.value ? pz_json_string_of(&scene, "name", &name) : status;
    if (status == POISE_OK && name) {
        gltf->input->file->title = pz_pool_copy(&gltf->input->pool, name, strlen(name));
        return gltf->input->file->title ? POISE_OK : pz_input_no_memory(gltf->input);
    }
    return status;
}

// ---- The model -----------------------------------------------------------------------------------------------------------

static vec3 carried_offset(const pz_gltf_node *node)
{
    return v3(node->carried.x * node->translation.x, node->carried.y * node->translation.y,
              node->carried.z * node->translation.z);
}

static poise_status add_node(const pz_gltf *gltf, poise_builder *builder, pz_gltf_node *node, int *joints, poise_error *said)
{
    poise_pose rest = {node->rotation, carried_offset(node)};
    const char *parent = node->parent == POISE_WORLD ? NULL : gltf->nodes[node->parent].name;
    if (node->is_tool) {
        poise_tool tool = {node->name, parent, rest};
        return poise_builder_add_tool(builder, &tool, said);
    }
    bool turns = node->turns || node->is_bone;
    poise_joint joint = poise_joint_default();
    joint.name = node->name;
    joint.parent = parent;
    joint.offset = rest;
    joint.type = turns ? (node->moves ? POISE_JOINT_FREE : POISE_JOINT_BALL_QUATERNION)
                       : (node->moves ? POISE_JOINT_TRANSLATION : POISE_JOINT_FIXED);
    if (node->moves) {
        joint.axes = quat_conj(node->rotation); // the offset's turn undone: x, y, z are the parent's
    }
    node->joint = (*joints)++; // depth first: the model keeps this order
    return poise_builder_add_joint(builder, &joint, said);
}

static poise_status build_model(pz_gltf *gltf)
{
    pz_input *input = gltf->input;
    pz_item nodes = pz_json_get(&gltf->root, "nodes");
    if (gltf->node_count == 0) {
        pz_json_warn(&gltf->root, "there are no nodes, so no model");
        return POISE_OK;
    }
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(input->allocator, &builder, NULL);
    if (status != POISE_OK) {
        return pz_input_no_memory(input);
    }
    int joints = 0;
    for (int k = 0; k < gltf->node_count && status == POISE_OK; ++k) {
        poise_error said = {.line = 0};
        status = add_node(gltf, builder, &gltf->nodes[gltf->order[k]], &joints, &said);
        if (status != POISE_OK) {
            pz_item item = pz_json_at(&nodes, (size_t)gltf->order[k]);
            pz_json_fail_as(&item, status, &said);
        }
    }
    if (status == POISE_OK) {
        poise_error said = {.line = 0};
        status = poise_model_create(builder, input->allocator, &input->file->model, &said);
        if (status != POISE_OK) {
            pz_json_fail_as(&nodes, status, &said);
        }
    }
    poise_builder_destroy(builder);
    return status;
}

// Is this node, or one above it, moved by an animation?
static bool is_moved(const pz_gltf *gltf, int index)
{
    while (index != POISE_WORLD && !gltf->nodes[index].moves) {
        index = gltf->nodes[index].parent;
    }
    return index != POISE_WORLD;
}

// options.floating: of the joints of skins that hang from none, the one that carries most of them. In gltf->order what hangs
// from a node follows it.
static void free_root(pz_gltf *gltf)
{
    int root = POISE_WORLD, top = POISE_WORLD, most = 0, carried = 0;
    for (int k = 0; k < gltf->node_count; ++k) {
        int index = gltf->order[k], above = gltf->nodes[index].parent;
        while (above != POISE_WORLD && above != top) {
            above = gltf->nodes[above].parent;
        }
        if (!gltf->nodes[index].is_bone) {
            continue;
        }
        bool hangs = top != POISE_WORLD && above == top;
        top = hangs ? top : index;
        carried = hangs ? carried + 1 : 1;
        root = carried > most ? top : root;
        most = carried > most ? carried : most;
    }
    if (root != POISE_WORLD && !is_moved(gltf, root)) {
        gltf->nodes[root].moves = true;
    }
}

static poise_status read_document(pz_gltf *gltf)
{
    poise_status status = pz_json_need_object(&gltf->root);
    status = status == POISE_OK ? check_asset(gltf) : status;
    if (status != POISE_OK) {
        return status;
    }
    warn_extensions(gltf);
    status = read_title(gltf);
    status = status == POISE_OK ? gltf_read_nodes(gltf) : status;
    status = status == POISE_OK ? pz_gltf_find_motion(gltf) : status;
    if (status == POISE_OK && gltf->input->options->floating) {
        free_root(gltf);
    }
    for (int i = 0; i < gltf->node_count && status == POISE_OK; ++i) {
        gltf->nodes[i].is_tool = gltf->nodes[i].is_tool && !gltf->nodes[i].turns && !gltf->nodes[i].moves;
    }
    status = status == POISE_OK ? build_model(gltf) : status;
    return status == POISE_OK && gltf->input->file->model ? pz_gltf_read_clip(gltf) : status;
}

poise_status pz_gltf_read(pz_input *input)
{
    pz_gltf gltf = {.input = input, .numbers_left = PZ_GLTF_NUMBERS + PZ_GLTF_NUMBERS_PER_BYTE * input->size};
    size_t json = 0, json_size = input->size;
    bool is_binary = (input->size >= 4 && memcmp(input->bytes, "glTF", 4) == 0) || input->file->format == POISE_FORMAT_GLB;
    poise_status status = is_binary ? read_chunks(&gltf, &json, &json_size) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    input->file->format = is_binary ? POISE_FORMAT_GLB : POISE_FORMAT_GLTF;
    input->file->scale = (poise_scale){.metres = 1.0, .up = POISE_UP_Y};
    status = pz_json_load(input, input->bytes + json, json_size, json, &gltf.json);
    if (status == POISE_OK) {
        gltf.root = pz_json_root(&gltf.json);
        status = read_document(&gltf);
        status = status == POISE_OK ? gltf_carry(&gltf, (const char *)input->bytes + json, json_size) : status;
        pz_json_release(&gltf.json);
    }
    return status;
}
