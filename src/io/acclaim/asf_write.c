// ASF (Acclaim skeleton): writing.
//
// An ASF has one root, free in space, and bones that begin where their parent ends and turn about axes given in the world's
// frame at rest. So a model's rest rotations go into the bones' axes, and a body whose children do not all begin at one
// point is written as a bone of no length, with a bone "<child>.base" that does not move to each child.
//
// The format does not say which axis points up, and programs take it to be y: the root turns what has another.
#include "io/acclaim/asf.h"

#include "io/skeleton.h"

#include <math.h>
#include <string.h>

typedef struct asf_writing {
    const poise_model *model;
    pz_output *output;
    pz_pool pool;
    poise_quat *rest; // by body: its rotation in the world at rest
    pz_tips tips;
    poise_vec3 *end; // by body: of the bone, in the world's axes
    bool *has_base;  // by joint: a bone leads to it
    int root;        // the joint that is the file's root; -1: none is
} asf_writing;

static bool is_identity(poise_quat r)
{
    return r.x == 0 && r.y == 0 && r.z == 0;
}

static poise_vec3 turned(poise_quat r, poise_vec3 v)
{
    return is_identity(r) ? v : poise_quat_rotate(r, v); // the same bits where nothing turns
}

static bool same_point(poise_vec3 a, poise_vec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

// ---- What ends where -----------------------------------------------------------------------------------------------------

// Where the joint begins, from its parent's origin, in the world's axes at rest.
static poise_vec3 start_of(const asf_writing *w, int joint)
{
    int parent = poise_model_joint_info(w->model, joint).parent;
    poise_vec3 p = poise_model_joint_info(w->model, joint).given->offset.position;
    return parent < 0 ? p : turned(w->rest[parent], p);
}

// The end of a body's bone: its tip, or where its children begin; nowhere but at its origin if these differ.
static void place_end(asf_writing *w, int body)
{
    const poise_model *model = w->model;
    int last = body + poise_model_joint_info(model, body).subtree, tip = w->tips.first[body];
    poise_vec3 zero = poise_vec3_make(0, 0, 0);
    poise_vec3 end = tip >= 0          ? turned(w->rest[body], poise_model_tool_info(model, tip).pose.position)
                     : body + 1 < last ? start_of(w, body + 1)
                                       : zero;
    end = body == w->root ? zero : end;
    bool agree = true;
    for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
        agree = agree && same_point(start_of(w, child), end);
    }
    w->end[body] = agree ? end : zero;
    for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
        w->has_base[child] = !same_point(start_of(w, child), w->end[body]);
    }
    if (!agree && tip >= 0 && body != w->root) {
        pz_output_warn(w->output, "body \"%s\": its tip is left out because its children begin elsewhere",
                       poise_model_joint_info(model, body).body);
    }
}

static poise_status plan(asf_writing *w)
{
    size_t joints = (size_t)poise_model_info(w->model).joints;
    w->rest = pz_pool_take(&w->pool, joints, sizeof *w->rest);
    w->end = pz_pool_take(&w->pool, joints, sizeof *w->end);
    w->has_base = pz_pool_take(&w->pool, joints, sizeof *w->has_base);
    if (!w->rest || !w->end || !w->has_base || !pz_tips_find(&w->pool, w->model, &w->tips)) {
        return pz_error_set(w->output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    w->root = pz_asf_root(w->model);
    for (int j = 0; j < (int)joints; ++j) {
        poise_joint joint = *poise_model_joint_info(w->model, j).given;
        int parent = poise_model_joint_info(w->model, j).parent;
        poise_quat own = j == w->root ? poise_pose_identity().rotation : joint.offset.rotation;
        w->rest[j] = parent < 0 ? own : is_identity(own) ? w->rest[parent] : poise_quat_multiply(w->rest[parent], own);
        w->has_base[j] = parent < 0 && j != w->root && !same_point(joint.offset.position, poise_vec3_make(0, 0, 0));
        asf_columns columns;
        bool is_bone = joint.type != POISE_JOINT_TRANSLATION && joint.type != POISE_JOINT_FREE_EULER;
        bool is_round = joint.type == POISE_JOINT_BALL_EULER && joint.order > POISE_EULER_ZYX; // an axis twice
        if (!pz_asf_columns(w->model, j, &columns) || joint.mimic || is_round || (j != w->root && !is_bone)) {
            return pz_error_set(w->output->error, POISE_ERROR_UNSUPPORTED,
                                "joint \"%s\": an ASF has only bones that turn about up to three axes, no %s joints",
                                joint.name, joint.mimic ? "mimic" : poise_joint_type_name(joint.type));
        }
    }
    for (int j = 0; j < (int)joints; ++j) {
        place_end(w, j);
    }
    return POISE_OK;
}

// ---- Numbers that read back ----------------------------------------------------------------------------------------------

// The double next to x with k digits after the point.
static double cut(double x, int k)
{
    double power = 1.0;
    for (int i = 0; i < k; ++i) {
        power *= 10.0;
    }
    double scaled = x * power;
    if (fabs(scaled) > 4e15) {
        return x;
    }
    return (double)(long long)(scaled + (scaled < 0 ? -0.5 : 0.5)) / power;
}

static bool is_minus(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 != 0;
}

// A length and a direction of norm 1 whose products are the very bits of `end`. For a given length a coordinate has no such
// factor in up to half of all cases; lengths next to the norm differ by less than anybody can measure, and one of them fits.
static bool split_end(poise_vec3 end, double direction[3], double *length)
{
    const double e[3] = {end.x, end.y, end.z};
    double largest = fabs(e[0]) > fabs(e[1]) ? fabs(e[0]) : fabs(e[1]);
    largest = largest > fabs(e[2]) ? largest : fabs(e[2]);
    *length = 0.0;
    if (largest == 0) { // zeros keep their sign
        direction[0] = end.x;
        direction[1] = end.y;
        direction[2] = is_minus(end.z) ? -1.0 : 1.0;
        return true;
    }
    double norm = largest * sqrt((e[0] / largest) * (e[0] / largest) + (e[1] / largest) * (e[1] / largest) +
                                 (e[2] / largest) * (e[2] / largest));
    for (int step = 0; step < 400; ++step) {
        int units = (step + 1) / 2;
        *length = norm * (1.0 + (step % 2 ? -1.0 : 1.0) * units * 2.220446049250313e-16);
        bool fits = true;
        for (int i = 0; i < 3 && fits; ++i) {
            double d = e[i] / *length;
            fits = false;
            for (int k = -1; k <= 1 && !fits; ++k) {
                direction[i] = d * (1.0 + k * 2.220446049250313e-16);
                fits = direction[i] * *length == e[i];
            }
        }
        if (fits) {
            return true;
        }
    }
    return false;
}

// The angles of C = Rz Ry Rx, in radians.
static void angles_of(poise_quat C, double angle[3])
{
    double R[9];
    poise_quat_to_matrix(C, R);
    double cos_y = sqrt(R[0] * R[0] + R[3] * R[3]);
    angle[1] = poise_atan2(-R[6], cos_y);
    if (cos_y > 1e-9) { // below, the sines are rounding errors
        angle[0] = poise_atan2(R[7], R[8]);
        angle[2] = poise_atan2(R[3], R[0]);
    } else {
        angle[0] = poise_atan2(-R[5], R[4]);
        angle[2] = 0.0;
    }
}

// Degrees with the fewest digits after the point that give back every bit of C; false: none do.
static bool short_degrees(poise_quat C, double degrees[3])
{
    double angle[3];
    angles_of(C, angle);
    for (int k = 0; k <= 14; ++k) {
        double radians[3];
        for (int i = 0; i < 3; ++i) {
            degrees[i] = cut(angle[i] / PZ_RADIANS_PER_DEGREE, k);
            radians[i] = degrees[i] * PZ_RADIANS_PER_DEGREE;
        }
        poise_quat again = poise_quat_from_roll_pitch_yaw(radians[0], radians[1], radians[2]); // as the reader has it
        if (memcmp(&again, &C, sizeof C) == 0) {
            return true;
        }
    }
    return false;
}

// ---- The text ------------------------------------------------------------------------------------------------------------

static void put_numbers(pz_output *output, const double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        pz_put(output, " ");
        pz_put_number(output, numbers[i]);
    }
}

static void put_vector(asf_writing *w, poise_vec3 end)
{
    double direction[3], length;
    if (!split_end(end, direction, &length)) { // tiny numbers: as they are
        direction[0] = end.x, direction[1] = end.y, direction[2] = end.z, length = 1.0;
    }
    pz_put(w->output, "     direction");
    put_numbers(w->output, direction, 3);
    pz_put(w->output, "\n     length");
    put_numbers(w->output, &length, 1);
    pz_put(w->output, "\n");
}

static void begin_bone(asf_writing *w, int id, const char *name, const char *suffix)
{
    pz_put(w->output, "  begin\n     id ");
    pz_put_integer(w->output, id);
    pz_put(w->output, "\n     name ");
    pz_asf_put_name(w->output, name);
    pz_put(w->output, suffix);
    pz_put(w->output, "\n");
}

static void put_axes_comment(asf_writing *w, poise_quat C)
{
    const double x[4] = {C.x, C.y, C.z, C.w};
    pz_put(w->output, "     " ASF_AXES_COMMENT);
    put_numbers(w->output, x, 4);
    pz_put(w->output, "\n");
}

static void put_axes(asf_writing *w, poise_quat C)
{
    double degrees[3];
    bool is_exact = short_degrees(C, degrees);
    pz_put(w->output, "     axis");
    put_numbers(w->output, degrees, 3);
    pz_put(w->output, " XYZ\n");
    if (!is_exact) {
        put_axes_comment(w, C);
    }
}

// The frame C and the axes 0, 1, 2 in it, outermost first. A joint with axes of its own that its `axes` do not name gets a
// frame in which these are x, or z and x.
static poise_quat frame_of(const asf_writing *w, int index, const poise_joint *joint, int axis[3])
{
    poise_quat rest = w->rest[index], C = joint->axes;
    int count = joint->type == POISE_JOINT_UNIVERSAL ? 2 : joint->type == POISE_JOINT_REVOLUTE ? 1 : 0;
    const poise_vec3 own[2] = {joint->axis, joint->axis2};
    for (int i = 0; i < 3 && joint->type == POISE_JOINT_BALL_EULER; ++i) {
        axis[i] = pz_euler_name((int)joint->order)[i] - 'x';
    }
    bool is_named = true;
    for (int i = 0; i < count; ++i) {
        axis[i] = -1;
        for (int k = 0; k < 3; ++k) {
            poise_vec3 e = poise_quat_rotate(C, poise_vec3_make(k == 0, k == 1, k == 2));
            axis[i] = same_point(e, own[i]) ? k : axis[i];
        }
        is_named = is_named && axis[i] >= 0;
    }
    if (!is_named) {
        poise_vec3 z = own[0], x = own[1];
        if (count == 1) { // any direction across
            bool is_x = fabs(z.x) < 0.5;
            poise_vec3 e = poise_vec3_make(is_x, !is_x, 0);
            double d = e.x * z.x + e.y * z.y;
            x = poise_vec3_make(e.x - d * z.x, e.y - d * z.y, -d * z.z);
            double n = sqrt(x.x * x.x + x.y * x.y + x.z * x.z);
            x = poise_vec3_make(x.x / n, x.y / n, x.z / n);
        }
        poise_vec3 y = poise_vec3_make(z.y * x.z - z.z * x.y, z.z * x.x - z.x * x.z, z.x * x.y - z.y * x.x);
        const double matrix[9] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
        C = poise_quat_from_matrix(matrix);
        axis[0] = 2;
        axis[1] = 0;
    }
    return is_identity(rest) ? C : poise_quat_multiply(rest, C);
}

static void put_limits(asf_writing *w, const poise_joint *joint, int count)
{
    bool has_limits = false;
    for (int i = 0; i < count; ++i) {
        has_limits = has_limits || joint->lower[i] - joint->lower[i] == 0 || joint->upper[i] - joint->upper[i] == 0;
    }
    for (int i = count - 1; i >= 0 && has_limits; --i) {
        pz_put(w->output, i == count - 1 ? "     limits (" : "            (");
        pz_put_degrees(w->output, joint->lower[i]);
        pz_put(w->output, " ");
        pz_put_degrees(w->output, joint->upper[i]);
        pz_put(w->output, ")\n");
    }
}

static void put_bone(asf_writing *w, int index, int *id)
{
    poise_joint joint = *poise_model_joint_info(w->model, index).given;
    if (w->has_base[index]) {
        begin_bone(w, ++*id, joint.name, ".base");
        put_vector(w, start_of(w, index));
        pz_put(w->output, "     axis 0 0 0 XYZ\n  end\n");
    }
    begin_bone(w, ++*id, joint.name, "");
    put_vector(w, w->end[index]);
    int axis[3], count;
    count = poise_model_joint_info(w->model, index).nq;
    put_axes(w, frame_of(w, index, &joint, axis));
    if (count > 0) {
        static const char *const names[] = {" rx", " ry", " rz"};
        pz_put(w->output, "     dof");
        for (int i = count - 1; i >= 0; --i) {
            pz_put(w->output, names[axis[i]]);
        }
        pz_put(w->output, "\n");
        put_limits(w, &joint, count);
    }
    pz_put(w->output, "  end\n");
}

// "     parent child child ..."
static void put_hierarchy(asf_writing *w)
{
    const poise_model *model = w->model;
    int joints = poise_model_info(model).joints;
    pz_put(w->output, ":hierarchy\n  begin\n");
    for (int body = w->root < 0 ? -1 : 0; body < joints; ++body) {
        int last = body < 0 ? joints : body + poise_model_joint_info(model, body).subtree;
        for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
            pz_put(w->output, child == body + 1 ? "    " : " ");
            if (child == body + 1) {
                if (body == w->root) {
                    pz_put(w->output, ASF_ROOT);
                } else {
                    pz_asf_put_name(w->output, poise_model_joint_info(model, body).name);
                }
                pz_put(w->output, " ");
            }
            pz_asf_put_name(w->output, poise_model_joint_info(model, child).name);
            pz_put(w->output, w->has_base[child] ? ".base" : "");
        }
        pz_put(w->output, body + 1 < last ? "\n" : "");
        for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
            if (w->has_base[child]) {
                pz_put(w->output, "    ");
                pz_asf_put_name(w->output, poise_model_joint_info(model, child).name);
                pz_put(w->output, ".base ");
                pz_asf_put_name(w->output, poise_model_joint_info(model, child).name);
                pz_put(w->output, "\n");
            }
        }
    }
    pz_put(w->output, "  end\n");
}

static void put_head(const poise_file *file, pz_output *output)
{
    pz_put(output, ":version 1.10\n:name ");
    pz_put_name(output, file->title && file->title[0] ? file->title : "poise", " ");
    pz_put(output, "\n:units\n  mass 1\n");
    double metres = file->scale.metres;
    if (metres > 0) {
        double length = 0.0254 / metres;
        for (int k = 0; k <= 14; ++k) { // the fewest digits that read back
            double shorter = cut(0.0254 / metres, k);
            if (shorter > 0 && 0.0254 / shorter == metres) {
                length = shorter;
                break;
            }
        }
        pz_put(output, "  length ");
        pz_put_number(output, length);
        pz_put(output, "\n");
    }
    pz_put(output, "  angle deg\n");
}

static void put_root(asf_writing *w)
{
    static const char *const orders[] = {
        [POISE_EULER_XYZ] = "RZ RY RX\n   axis ZYX", [POISE_EULER_XZY] = "RY RZ RX\n   axis YZX",
        [POISE_EULER_YXZ] = "RZ RX RY\n   axis ZXY", [POISE_EULER_YZX] = "RX RZ RY\n   axis XZY",
        [POISE_EULER_ZXY] = "RY RX RZ\n   axis YXZ", [POISE_EULER_ZYX] = "RX RY RZ\n   axis XYZ",
    };
    poise_joint root = poise_joint_default();
    root.order = POISE_EULER_ZYX;
    if (w->root >= 0) {
        root = *poise_model_joint_info(w->model, w->root).given;
    }
    const double p[3] = {root.offset.position.x, root.offset.position.y, root.offset.position.z};
    double degrees[3];
    bool is_exact = short_degrees(root.offset.rotation, degrees);
    pz_put(w->output, ":root\n   order TX TY TZ ");
    pz_put(w->output, orders[root.order]);
    pz_put(w->output, "\n   position");
    put_numbers(w->output, p, 3);
    pz_put(w->output, "\n   orientation");
    put_numbers(w->output, degrees, 3);
    pz_put(w->output, "\n");
    if (!is_exact) {
        put_axes_comment(w, root.offset.rotation);
    }
}

static poise_status write_all(asf_writing *w, const poise_file *file)
{
    poise_status status = plan(w);
    if (status != POISE_OK) {
        return status;
    }
    pz_warn_of_losses(file, w->output, "ASF", &w->tips, 0);
    if (w->root < 0) {
        pz_output_warn(w->output, "the model has no root with six free coordinates; the file gets one, \"root\", above it");
    } else if (strcmp(poise_model_joint_info(w->model, w->root).name, ASF_ROOT) != 0) {
        pz_output_warn(w->output, "joint \"%s\" is called \"root\" in the file",
                       poise_model_joint_info(w->model, w->root).name);
    }
    put_head(file, w->output);
    put_root(w);
    pz_put(w->output, ":bonedata\n");
    int id = 0;
    for (int j = w->root + 1; j < poise_model_info(w->model).joints && !w->output->failed; ++j) {
        put_bone(w, j, &id);
    }
    put_hierarchy(w);
    return POISE_OK;
}

poise_status pz_write_asf(const poise_file *file, pz_output *output)
{
    poise_status status = pz_check_model(file, output, "ASF");
    if (status != POISE_OK) {
        return status;
    }
    poise_model *turned = NULL;
    if (file->scale.up != POISE_UP_UNKNOWN && file->scale.up != POISE_UP_Y) {
        status = pz_turn_model(file->model, file->scale.up, POISE_UP_Y, output->allocator, &turned, output->error);
    }
    asf_writing w = {.model = turned ? turned : file->model, .output = output, .pool = {.allocator = output->allocator}};
    status = status == POISE_OK ? write_all(&w, file) : status;
    pz_pool_release(&w.pool);
    poise_model_destroy(turned);
    return status;
}
