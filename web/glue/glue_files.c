// Files.
#include "glue.h"

// The host puts the bytes of the file that is named into memory from web_allocate and returns their address, 0 if it has no
// such file; *size is their number. The memory is released here, when the read ends.
WEB_IMPORT(load) unsigned char *web_host_load(const char *name, size_t *size);

typedef struct loaded {
    struct loaded *next;
    unsigned char *bytes;
} loaded;

static poise_status load(void *user, const char *name, const void **bytes, size_t *size)
{
    loaded **list = user;
    loaded *entry = web_take(1, sizeof *entry);
    if (!entry) {
        return POISE_ERROR_MEMORY;
    }
    entry->bytes = web_host_load(name, size);
    entry->next = *list;
    *list = entry;
    *bytes = entry->bytes;
    return entry->bytes ? POISE_OK : POISE_ERROR_NOT_FOUND;
}

// Row: format, address of the name, of the model, positions of BVH, animation, floating, whether the host loads files.
poise_file *WEB_EXPORT(web_read)(const unsigned char *bytes, size_t size, double *numbers)
{
    loaded *list = NULL;
    web_row row = {numbers};
    poise_read_options options = poise_read_options_default();
    options.format = (poise_format)web_get_int(&row);
    options.name = web_get_address(&row);
    options.model = web_get_address(&row);
    options.positions = (poise_bvh_positions)web_get_int(&row);
    options.animation = web_get_int(&row);
    options.floating = web_get_bool(&row);
    options.load = web_get_bool(&row) ? load : NULL;
    options.user = &list;
    poise_file *file = NULL;
    poise_read(bytes, size, &options, NULL, &file, web_error_clear());
    while (list) {
        loaded *next = list->next;
        web_release(list->bytes);
        web_release(list);
        list = next;
    }
    return file;
}

// Row: format, model, clip, markers, goals, their number, postures, their number, placements, their number, metres, up,
// title, number of warnings, warnings dropped. Model, clip and markers are taken out: they are the host's from now on.
void WEB_EXPORT(web_file_take)(poise_file *file, double *numbers)
{
    web_row row = {numbers};
    web_put(&row, file->format);
    web_put_address(&row, file->model);
    web_put_address(&row, file->clip);
    web_put_address(&row, file->markers);
    web_put_address(&row, file->goals);
    web_put(&row, file->goal_count);
    web_put_address(&row, file->postures);
    web_put(&row, file->posture_count);
    web_put_address(&row, file->placements);
    web_put(&row, file->placement_count);
    web_put(&row, file->scale.metres);
    web_put(&row, file->scale.up);
    web_put_address(&row, file->title);
    web_put(&row, file->warning_count);
    web_put(&row, file->warnings_dropped);
    file->model = NULL;
    file->clip = NULL;
    file->markers = NULL;
}

// Line and text of a warning, of a file or of the array that web_write fills.
int WEB_EXPORT(web_warning_line)(const poise_warning *warnings, int warning)
{
    return warnings[warning].line;
}

const char *WEB_EXPORT(web_warning_text)(const poise_warning *warnings, int warning)
{
    return warnings[warning].text;
}

const poise_warning *WEB_EXPORT(web_file_warnings)(const poise_file *file)
{
    return file->warnings;
}

// Addresses of the name and the numbers of a posture.
const char *WEB_EXPORT(web_posture_name)(const poise_posture *postures, int posture)
{
    return postures[posture].name;
}

const double *WEB_EXPORT(web_posture_q)(const poise_posture *postures, int posture)
{
    return postures[posture].q;
}

poise_posture *WEB_EXPORT(web_postures_create)(int count)
{
    return web_take((size_t)count, sizeof(poise_posture));
}

void WEB_EXPORT(web_posture_set)(poise_posture *postures, int posture, const char *name, const double *q)
{
    postures[posture] = (poise_posture){name, q};
}

// Room for warnings; release it with web_release.
poise_warning *WEB_EXPORT(web_warnings_create)(int count)
{
    return web_take((size_t)count, sizeof(poise_warning));
}

// Row as for web_file_take, up to the title. In `sizes`: the room for warnings on the way in; the size of the bytes and the
// number of warnings on the way out. The bytes are released with web_release.
void *WEB_EXPORT(web_write)(double *numbers, poise_warning *warnings, int32_t *sizes)
{
    web_row row = {numbers};
    poise_file file = {.format = (poise_format)web_get_int(&row)};
    file.model = web_get_address(&row);
    file.clip = web_get_address(&row);
    file.markers = web_get_address(&row);
    file.goals = web_get_address(&row);
    file.goal_count = web_get_int(&row);
    file.postures = web_get_address(&row);
    file.posture_count = web_get_int(&row);
    file.placements = web_get_address(&row);
    file.placement_count = web_get_int(&row);
    file.scale.metres = web_get(&row);
    file.scale.up = (poise_up)web_get_int(&row);
    file.title = web_get_address(&row);
    void *bytes = NULL;
    size_t size = 0;
    int warning_count = sizes[0];
    poise_status status = poise_write(&file, file.format, NULL, &bytes, &size, warnings, &warning_count, web_error_clear());
    if (status != POISE_OK) {
        return NULL;
    }
    sizes[0] = (int32_t)size;
    sizes[1] = warning_count;
    return bytes;
}
