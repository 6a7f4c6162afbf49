// Reading the HDM05 reference numbers with jansson.
#include "hdm05_reference.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

// Set when something is missing; checked once at the end, so that readers need no error paths of their own.
typedef struct reader {
    const char *missing;
} reader;

static double number(reader *in, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        in->missing = key;
    }
    return json_number_value(value);
}

// A number per slot, from an array or an array of arrays.
static double *flatten(const json_t *array, double *x, const double *end)
{
    size_t i;
    const json_t *item;
    json_array_foreach(array, i, item)
    {
        if (json_is_array(item)) {
            x = flatten(item, x, end);
        } else if (x < end) {
            *x++ = json_number_value(item);
        }
    }
    return x;
}

static void numbers(reader *in, const json_t *object, const char *key, int count, double *x)
{
    if (flatten(json_object_get(object, key), x, x + count) != x + count) {
        in->missing = key;
    }
}

static void vectors(reader *in, const json_t *object, const char *key, int count, poise_vec3 *v)
{
    double x[3 * HDM05_MARKERS] = {0};
    numbers(in, object, key, 3 * count, x);
    for (int i = 0; i < count; ++i) {
        v[i] = (poise_vec3){x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    }
}

// C = Rz Ry Rx from angles in degrees.
static void axes_from_degrees(const double degrees[3], double C[9])
{
    double sx = sin(degrees[0] * DEGREE), cx = cos(degrees[0] * DEGREE), sy = sin(degrees[1] * DEGREE),
           cy = cos(degrees[1] * DEGREE), sz = sin(degrees[2] * DEGREE), cz = cos(degrees[2] * DEGREE);
    C[0] = cz * cy, C[1] = cz * sy * sx - sz * cx, C[2] = cz * sy * cx + sz * sx;
    C[3] = sz * cy, C[4] = sz * sy * sx + cz * cx, C[5] = sz * sy * cx - cz * sx;
    C[6] = -sy, C[7] = cy * sx, C[8] = cy * cx;
}

// The angles of bone b, from names such as "lfoot.rx" at first_dof. The file has them innermost first.
static void read_angles(reader *in, const json_t *names, int first, int count, hdm05_bone *bone)
{
    bone->angle_count = count;
    for (int i = 0; i < count; ++i) {
        const char *name = json_string_value(json_array_get(names, (size_t)(first + i)));
        const char *dot = name ? strchr(name, '.') : NULL;
        if (!dot || dot[1] != 'r' || dot[2] < 'x' || dot[2] > 'z') {
            in->missing = "dof_names";
            return;
        }
        bone->letter[count - 1 - i] = dot[2] - 'x';
    }
}

static void read_bones(reader *in, const json_t *skeleton, hdm05 *data)
{
    const json_t *bones = json_object_get(skeleton, "bones"), *names = json_object_get(skeleton, "dof_names");
    double offset[3 * HDM05_BONES], degrees[3];
    int used = 0;
    for (int b = 0; b < HDM05_BONES && !in->missing; ++b) {
        const json_t *item = json_array_get(bones, (size_t)b);
        hdm05_bone *bone = &data->bones[b];
        const char *name = json_string_value(json_object_get(item, "name"));
        snprintf(bone->name, sizeof bone->name, "%s", name ? name : "");
        bone->parent = (int)number(in, item, "parent") - 1;
        numbers(in, item, "offset_cm", 3, offset + 3 * b);
        numbers(in, item, "axis_deg", 3, degrees);
        axes_from_degrees(degrees, bone->axes);
        if (bone->parent >= 0) {
            const double *o = offset + 3 * bone->parent; // a bone begins where its parent ends
            bone->position = (poise_vec3){o[0], o[1], o[2]};
        }
        int first = (int)number(in, item, "first_dof") - 1, count = (int)number(in, item, "num_dof");
        int slides = b == 0 ? 3 : 0;
        bone->left_out = first < 0;
        if (count - slides > 3 || used + count > HDM05_DOFS || (count > 0 && first != used)) {
            in->missing = "num_dof";
            return;
        }
        read_angles(in, names, first + slides, count - slides, bone);
        for (int i = 0; i < count; ++i) {
            data->joint_of[used + i] = i < slides ? -1 : b;
            data->x_of[used + i] = i < slides ? used + i : used + slides + count - 1 - i;
        }
        used += count;
    }
    if (used != HDM05_DOFS) {
        in->missing = "bones";
    }
}

static void read_skeleton(reader *in, const json_t *skeleton, hdm05 *data)
{
    double pairs[2 * HDM05_ENTRIES] = {0};
    const json_t *markers = json_object_get(skeleton, "markers");
    read_bones(in, skeleton, data);
    for (int m = 0; m < HDM05_MARKERS; ++m) {
        data->marker_bone[m] = (int)number(in, json_array_get(markers, (size_t)m), "bone_id") - 1;
    }
    numbers(in, skeleton, "hessian_entry_list_1based_row_col", 2 * HDM05_ENTRIES, pairs);
    for (int i = 0; i < HDM05_ENTRIES; ++i) {
        data->entry_row[i] = (int)pairs[2 * i] - 1;
        data->entry_column[i] = (int)pairs[2 * i + 1] - 1;
    }
}

static void read_state(reader *in, const json_t *object, hdm05_state *state)
{
    state->given = object != NULL;
    if (!state->given) {
        return;
    }
    numbers(in, object, "x", HDM05_DOFS, state->x);
    state->f = number(in, object, "f");
    state->norm_r = number(in, object, "norm_r");
    state->sum_marker_dist = number(in, object, "sum_marker_dist");
    state->grad_norm = number(in, object, "grad_norm");
    numbers(in, object, "grad", HDM05_DOFS, state->grad);
    state->J_norm = number(in, object, "J_fro");
    state->H_norm = number(in, object, "H_exact_fro");
    state->H_trace = number(in, object, "H_exact_trace");
    state->H_eig_min = number(in, object, "H_exact_eig_min");
    state->H_eig_max = number(in, object, "H_exact_eig_max");
    state->JtJ_eig_max = number(in, object, "JtJ_eig_max");
    state->H_negative = (int)number(in, object, "H_exact_num_negative_eig");
    numbers(in, object, "H_exact_entries", HDM05_ENTRIES, state->entry);
    numbers(in, object, "H_repo_mirror_entries", HDM05_ENTRIES, state->mirror);
    state->H_asymmetry = number(in, object, "H_repo_asymmetry_max");
    state->has_packed = json_object_get(object, "H_exact_lower_packed_by_row") != NULL;
    if (state->has_packed) {
        numbers(in, object, "H_exact_lower_packed_by_row", HDM05_PACKED, state->packed);
    }
    state->has_J = json_object_get(object, "J_rows") != NULL;
    if (state->has_J) {
        numbers(in, object, "J_rows", 3 * HDM05_MARKERS * HDM05_DOFS, state->J);
    }
}

static void read_frame(reader *in, const json_t *object, const json_t *fixed, hdm05_frame *frame)
{
    frame->number = (int)number(in, object, "frame");
    numbers(in, object, "x_amc", HDM05_DOFS, frame->x_amc);
    numbers(in, object, "bone_origin_cm", 3 * HDM05_BONES, frame->position);
    numbers(in, object, "bone_rotation_rowmajor", 9 * HDM05_BONES, frame->rotation);
    vectors(in, object, "targets_cm", HDM05_MARKERS, frame->target);
    vectors(in, object, "marker_offsets_bone_frame_cm", HDM05_MARKERS, frame->tool);
    read_state(in, json_object_get(object, "state_from_previous_amc_pose"), &frame->previous);
    read_state(in, json_object_get(object, "state_zero_init"), &frame->zero);
    if ((int)number(in, fixed, "frame") != frame->number) {
        in->missing = "fixed_mean_offset_variant";
    }
    frame->fixed_f_at_amc = number(in, fixed, "f_at_x_amc");
    if (frame->previous.given) {
        frame->fixed_f_at_previous = number(in, fixed, "f_from_previous_amc_pose");
        frame->fixed_grad_norm_at_previous = number(in, fixed, "grad_norm_from_previous_amc_pose");
    }
}

hdm05 *hdm05_read(const char *path)
{
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);
    hdm05 *data = calloc(1, sizeof *data);
    if (!file || !data) {
        fprintf(stderr, "%s: %s\n", path, file ? "out of memory" : error.text);
        json_decref(file);
        free(data);
        return NULL;
    }
    reader in = {NULL};
    const json_t *fixed = json_object_get(file, "fixed_mean_offset_variant");
    const json_t *frames = json_object_get(file, "frames"), *fixed_frames = json_object_get(fixed, "frames");
    read_skeleton(&in, json_object_get(file, "skeleton"), data);
    vectors(&in, fixed, "offsets_bone_frame_cm", HDM05_MARKERS, data->fixed_tool);
    for (int i = 0; i < HDM05_FRAMES; ++i) {
        read_frame(&in, json_array_get(frames, (size_t)i), json_array_get(fixed_frames, (size_t)i), &data->frames[i]);
    }
    if (in.missing) {
        fprintf(stderr, "%s: no good \"%s\"\n", path, in.missing);
        free(data);
        data = NULL;
    }
    json_decref(file);
    return data;
}
