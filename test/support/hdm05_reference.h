// The reference numbers for the exact Hessian on motion-capture data (HDM05, actor dg, sequence 03-05_02), read from
// reference/hessianik_reference.json of the data folder: a skeleton of 31 bones and 58 degrees of freedom, 41 markers, and
// eleven frames with everything evaluated at them. Lengths in cm, angles in radians.
//
// The file counts from 1 and lists the angles of a bone as rx ry rz, innermost first. Here indices count from 0; vectors and
// matrices keep the file's order of degrees of freedom ("x order"); `x_of` leads there from the order of Poise and plain,
// which is outermost first.
#ifndef TEST_HDM05_REFERENCE_H
#define TEST_HDM05_REFERENCE_H

#include <poise/math.h>

#define HDM05_FILE    "reference/hessianik_reference.json"
#define HDM05_BONES   31
#define HDM05_DOFS    58
#define HDM05_MARKERS 41
#define HDM05_ENTRIES 22 // of the Hessian that are listed one by one
#define HDM05_PACKED  (HDM05_DOFS * (HDM05_DOFS + 1) / 2)
#define HDM05_FRAMES  11

typedef struct hdm05_bone {
    char name[16];
    int parent;          // -1: the root
    double axes[9];      // C, row-major: the bone turns by C (Rz Ry Rx) C^-1 at its origin
    poise_vec3 position; // of the origin, in the parent's frame
    bool left_out;       // a thumb: the file's rotation has angles that are not in x
    int angle_count;
    int letter[3]; // 0 x, 1 y, 2 z; outermost first
} hdm05_bone;

// Everything evaluated at one x, against targets and tools of the frame it belongs to.
typedef struct hdm05_state {
    bool given;
    double x[HDM05_DOFS];
    double f, norm_r, sum_marker_dist, grad_norm;
    double grad[HDM05_DOFS];
    double J_norm, H_norm, H_trace; // Frobenius norms
    double H_eig_min, H_eig_max, JtJ_eig_max;
    int H_negative; // number of negative eigenvalues
    double entry[HDM05_ENTRIES];
    double mirror[HDM05_ENTRIES]; // the transposed entries of the published code
    double H_asymmetry;           // largest |H_ij - H_ji| of the published code
    bool has_packed, has_J;
    double packed[HDM05_PACKED]; // lower triangle by rows
    double J[3 * HDM05_MARKERS * HDM05_DOFS];
} hdm05_state;

typedef struct hdm05_frame {
    int number; // of the motion's frames, from 1
    double x_amc[HDM05_DOFS];
    double position[3 * HDM05_BONES]; // at x_amc, by bone
    double rotation[9 * HDM05_BONES];
    poise_vec3 target[HDM05_MARKERS];
    poise_vec3 tool[HDM05_MARKERS]; // such that f(x_amc) = 0
    hdm05_state previous;           // at the pose of the frame before
    hdm05_state zero;               // at x = 0 but for the root, at the mean of the targets
    // with the tools of `fixed_tool` instead
    double fixed_f_at_amc, fixed_f_at_previous, fixed_grad_norm_at_previous;
} hdm05_frame;

typedef struct hdm05 {
    hdm05_bone bones[HDM05_BONES];
    int marker_bone[HDM05_MARKERS];
    int x_of[HDM05_DOFS];     // index in x of the degree of freedom that comes i-th, outermost first, bone by bone
    int joint_of[HDM05_DOFS]; // by x: -1 the root's translation, else the bone whose angle it is
    int entry_row[HDM05_ENTRIES], entry_column[HDM05_ENTRIES];
    poise_vec3 fixed_tool[HDM05_MARKERS]; // means over the motion
    hdm05_frame frames[HDM05_FRAMES];
} hdm05;

// Read the file. NULL, with a line on stderr, when it is not what is described above. Release with free.
hdm05 *hdm05_read(const char *path);

#endif
