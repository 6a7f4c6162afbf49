// Denavit-Hartenberg tables.
//
//   classic    A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)     the joint moves about the z of the frame before
//   modified   A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)     the joint moves about its own z (Craig)
//
// Both are a product of constants and motions about or along z. Classic: row i's constant after the motion, Tz(d) Tx(a)
// Rx(alpha), belongs to the offset of joint i+1, or to the tip. Modified: Rz and Tz commute, so the whole constant comes
// first. A constant theta (or the d of a revolute joint) commutes with the motion and joins the constant.
#include "base/error.h"
#include "model/builder.h"
#include "num/trig.h"

#include <string.h>

#define NAME_SIZE 64

static quat turn_x(double angle)
{
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (quat){s, 0, 0, c};
}

static quat turn_z(double angle)
{
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (quat){0, 0, s, c};
}

// Rz(theta) Tz(d)
static poise_pose along_z(const poise_dh_row *row)
{
    return (poise_pose){turn_z(row->theta), {0, 0, row->d}};
}

// Tx(a) Rx(alpha); the two commute
static poise_pose along_x(const poise_dh_row *row)
{
    return (poise_pose){turn_x(row->alpha), {row->a, 0, 0}};
}

// prefix followed by the decimal digits of `number`
static bool numbered_name(char name[NAME_SIZE], const char *prefix, int number)
{
    char digits[12];
    size_t count = 0;
    for (int n = number; n > 0; n /= 10) {
        digits[count++] = (char)('0' + n % 10);
    }
    size_t length = strlen(prefix);
    if (length + count >= NAME_SIZE) {
        return false;
    }
    memcpy(name, prefix, length);
    for (size_t i = 0; i < count; ++i) {
        name[length + i] = digits[count - 1 - i];
    }
    name[length + count] = '\0';
    return true;
}

static poise_status check_row(const poise_dh_row *row, int number, poise_error *error)
{
    if (!(is_finite(row->a) && is_finite(row->alpha) && is_finite(row->d) && is_finite(row->theta))) {
        return pz_error_set(error, POISE_ERROR_MODEL, "Denavit-Hartenberg row %d: a number is not finite", number);
    }
    return POISE_OK;
}

static poise_status add_tip(poise_builder *builder, const char *prefix, const char *body, poise_pose pose,
                            poise_error *error)
{
    char name[NAME_SIZE];
    size_t length = strlen(prefix);
    if (length + 4 > NAME_SIZE) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the prefix of a Denavit-Hartenberg chain is too long");
    }
    memcpy(name, prefix, length);
    memcpy(name + length, "tip", 4);
    return poise_builder_add_tool(builder, &(poise_tool){.name = name, .body = body, .pose = pose}, error);
}

// The rows as joints, each below the one before; the constant after the last motion is the tip.
static poise_status add_rows(poise_builder *builder, const char *prefix, const char *parent, poise_dh_convention convention,
                             const poise_dh_row *rows, int count, poise_error *error)
{
    char name[NAME_SIZE], before[NAME_SIZE];
    poise_pose pending = poise_pose_identity(); // constant since the last joint
    for (int i = 0; i < count; ++i) {
        poise_status status = check_row(&rows[i], i + 1, error);
        if (status != POISE_OK) {
            return status;
        }
        if (!numbered_name(name, prefix, i + 1)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "the prefix of a Denavit-Hartenberg chain is too long");
        }
        if (convention == POISE_DH_MODIFIED) {
            pending = poise_pose_multiply(pending, along_x(&rows[i]));
        }
        poise_joint joint = poise_joint_default();
        joint.name = name;
        joint.parent = i == 0 ? parent : before;
        joint.type = rows[i].prismatic ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
        joint.offset = poise_pose_multiply(pending, along_z(&rows[i]));
        joint.lower[0] = rows[i].lower;
        joint.upper[0] = rows[i].upper;
        status = poise_builder_add_joint(builder, &joint, error);
        if (status != POISE_OK) {
            return status;
        }
        pending = convention == POISE_DH_CLASSIC ? along_x(&rows[i]) : poise_pose_identity();
        memcpy(before, name, sizeof before);
    }
    return add_tip(builder, prefix, before, pending, error);
}

poise_status poise_builder_add_dh(poise_builder *builder, const char *prefix, const char *parent,
                                  poise_dh_convention convention, const poise_dh_row *rows, int count, poise_error *error)
{
    if (!builder || !prefix || !rows) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg chain: %s must not be NULL",
                            !builder  ? "builder"
                            : !prefix ? "prefix"
                                      : "rows");
    }
    if (count < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg chain has at least one row, not %d", count);
    }
    if ((unsigned)convention > POISE_DH_MODIFIED) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "a Denavit-Hartenberg chain is POISE_DH_CLASSIC or POISE_DH_MODIFIED, not %d", (int)convention);
    }
    int joint_count = builder->joint_count;
    size_t text_size = builder->text_size;
    poise_status status = add_rows(builder, prefix, parent, convention, rows, count, error);
    if (status != POISE_OK) {
        pz_builder_take_back(builder, joint_count, text_size); // all rows or none
    }
    return status;
}
