// A smooth change in place of one that was found frame by frame. Over each stretch of frames that an edit changes,
//
//   min over s  sum_t (s_t - d_t)^2 + K sum_t (s_(t+3) - 3 s_(t+2) + 3 s_(t+1) - s_t)^2
//
// for every degree of freedom, with s = 0 in the frames around it: where it begins and ends, so do its first two
// derivatives. (E. T. Whittaker, On a New Method of Graduation, 1923; third differences.) K is such that half of a swing of
// SECONDS stays.
#include "motion/edit/editor.h"

#include "base/error.h"

#define SECONDS 0.35
#define BAND    4 // diagonals of the matrix on one side, its own included

// The matrix I + K D^T D of a stretch, lower band by rows: A[t * BAND + b] is the entry (t, t - b). D has a row for every
// four frames that the clip has around the stretch.
static void fill(double *A, int first, int count, int frames, double K)
{
    static const double d[BAND] = {-1.0, 3.0, -3.0, 1.0};
    for (int t = 0; t < count; ++t) {
        for (int b = 0; b < BAND; ++b) {
            A[t * BAND + b] = b == 0 ? 1.0 : 0.0;
        }
    }
    for (int row = first - 3; row < first + count; ++row) { // frames row .. row + 3
        if (row < 0 || row + 3 >= frames) {
            continue;
        }
        for (int i = 0; i < BAND; ++i) {
            for (int j = 0; j <= i; ++j) {
                int ti = row + i - first, tj = row + j - first;
                if (ti >= 0 && ti < count && tj >= 0) {
                    A[ti * BAND + (i - j)] += K * d[i] * d[j];
                }
            }
        }
    }
}

// A = L L^T in place, and x <- A^-1 x, `stride` numbers apart.
static void factor(double *A, int count)
{
    for (int t = 0; t < count; ++t) {
        for (int b = BAND - 1; b >= 0; --b) {
            int col = t - b;
            if (col < 0) {
                continue;
            }
            double sum = A[t * BAND + b];
            for (int k = b + 1; k < BAND && t - k >= 0; ++k) {
                sum -= A[t * BAND + k] * A[col * BAND + (k - b)];
            }
            A[t * BAND + b] = b == 0 ? sqrt(sum) : sum / A[col * BAND];
        }
    }
}

static void substitute(const double *L, int count, double *x, int stride)
{
    for (int t = 0; t < count; ++t) {
        double sum = x[(size_t)t * (size_t)stride];
        for (int k = 1; k < BAND && t - k >= 0; ++k) {
            sum -= L[t * BAND + k] * x[(size_t)(t - k) * (size_t)stride];
        }
        x[(size_t)t * (size_t)stride] = sum / L[t * BAND];
    }
    for (int t = count - 1; t >= 0; --t) {
        double sum = x[(size_t)t * (size_t)stride];
        for (int k = 1; k < BAND && t + k < count; ++k) {
            sum -= L[(t + k) * BAND + k] * x[(size_t)(t + k) * (size_t)stride];
        }
        x[(size_t)t * (size_t)stride] = sum / L[t * BAND];
    }
}

// One stretch: the changes, made smooth, become the reference.
static poise_status smooth_stretch(pz_editor *e, int first, int count, double *A, double *change, poise_error *error)
{
    const double two_pi = 6.28318530717958647692;
    double turn = two_pi * e->clip->frame_time / SECONDS, square = turn * turn;
    int nv = e->model->nv;
    poise_status status = POISE_OK;
    fill(A, first, count, e->clip->frames, 1.0 / (square * square * square));
    factor(A, count);
    for (int t = 0; t < count && status == POISE_OK; ++t) {
        status = poise_difference(e->model, pz_editor_original(e, first + t), pz_editor_frame(e, first + t),
                                  change + (size_t)t * (size_t)nv, error);
    }
    for (int i = 0; i < nv && status == POISE_OK; ++i) {
        substitute(A, count, change + i, nv);
    }
    for (int t = 0; t < count && status == POISE_OK; ++t) {
        status = poise_retract(e->model, pz_editor_original(e, first + t), change + (size_t)t * (size_t)nv,
                               pz_editor_reference(e, first + t), error);
    }
    return status;
}

poise_status pz_editor_smooth(pz_editor *e, const poise_allocator *allocator, poise_error *error)
{
    int frames = e->clip->frames, end;
    pz_owned owned = {0};
    double *A = pz_owned_take(&owned, allocator, (size_t)frames * (size_t)(BAND + e->model->nv) * sizeof(double));
    if (!A) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d frames", frames);
    }
    poise_status status = POISE_OK;
    for (int first = 0; first < frames && status == POISE_OK; first = end) {
        for (end = first; end < frames && e->changed[end] == e->changed[first]; ++end) {
        }
        if (e->changed[first]) {
            status = smooth_stretch(e, first, end - first, A, A + (size_t)frames * BAND, error);
        }
    }
    pz_owned_release(&owned);
    e->is_smooth = true;
    return status;
}
