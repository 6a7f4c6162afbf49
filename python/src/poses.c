// Poses as Python gives them: a (4, 4) matrix, or 7 numbers, x y z and a quaternion x y z w.
#include "extension.h"

// with a unit quaternion, to the bit as the library's constructors make it
static poise_pose unit_pose(poise_pose pose)
{
    return (poise_pose){poise_quat_normalize(pose.rotation), pose.position};
}

bool pose_from_numbers(const double *n, int count, const char *what, poise_pose *pose)
{
    if (count == 7) {
        *pose = unit_pose((poise_pose){.rotation = {n[3], n[4], n[5], n[6]}, .position = {n[0], n[1], n[2]}});
        return true;
    }
    if (count != 16) {
        PyErr_Format(PyExc_ValueError, "%s: expected a (4, 4) matrix or 7 numbers, x y z and a quaternion x y z w", what);
        return false;
    }
    poise_pose given;
    if (!poise_pose_from_matrix(n, &given)) {
        PyErr_Format(PyExc_ValueError, "%s: " NO_POSE, what);
        return false;
    }
    *pose = unit_pose(given);
    return true;
}

bool pose_take(PyObject *object, const char *what, poise_pose *pose)
{
    numbers array;
    if (!numbers_take(&array, object, what)) {
        return false;
    }
    bool ok = pose_from_numbers(array.at, array.count > 16 ? 0 : (int)array.count, what, pose);
    numbers_release(&array);
    return ok;
}

bool poses_have_shape(const numbers *targets)
{
    bool matrices = targets->axes == 3 && targets->shape[1] == 4 && targets->shape[2] == 4;
    if (!matrices && !(targets->axes == 2 && targets->shape[1] == 7)) {
        PyErr_SetString(PyExc_ValueError, "targets: expected an array of shape (N, 4, 4) or (N, 7); of one pose T[None]");
        return false;
    }
    return true;
}

poise_pose pose_of(const double *n, int size)
{
    if (size == 3) {
        return (poise_pose){.rotation = {0, 0, 0, 1}, .position = {n[0], n[1], n[2]}};
    }
    if (size == 7) {
        return (poise_pose){.rotation = {n[3], n[4], n[5], n[6]}, .position = {n[0], n[1], n[2]}};
    }
    const double matrix[9] = {n[0], n[1], n[2], n[4], n[5], n[6], n[8], n[9], n[10]};
    return (poise_pose){.rotation = poise_quat_from_matrix(matrix), .position = {n[3], n[7], n[11]}};
}
