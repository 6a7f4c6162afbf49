// From bytes to models, goals and numbers, for the fuzz programs that call solvers.
#ifndef POISE_FUZZ_STRUCTURED_H
#define POISE_FUZZ_STRUCTURED_H

#include <poise/motion.h>
#include <poise/poise.h>

#define FUZZ_JOINTS  8
#define FUZZ_NUMBERS (7 * FUZZ_JOINTS) // room for q and for a step
#define FUZZ_GOALS   6

#define FUZZ_CLIP_NUMBERS 128 // room for a step of any model that has a clip

// Bytes to be used up; zeros follow the last one.
typedef struct fuzz_bytes {
    const uint8_t *at, *end;
} fuzz_bytes;

// Abort, with a line on stderr, unless the condition holds.
void fuzz_require(bool condition, const char *what);

int fuzz_byte(fuzz_bytes *bytes);

// 0 .. count - 1
int fuzz_index(fuzz_bytes *bytes, int count);

// A number as fuzz_number gives it for half of the first bytes, else `usual`.
double fuzz_number_or(fuzz_bytes *bytes, double usual);

// Any double: by the first byte a round number between -8 and 8, one of the hard ones (zeros, infinities, NaN, denormals,
// the largest, angles near a half turn), or eight bytes as they are.
double fuzz_number(fuzz_bytes *bytes);

poise_vec3 fuzz_vec3(fuzz_bytes *bytes);
poise_quat fuzz_quat(fuzz_bytes *bytes);
poise_pose fuzz_pose(fuzz_bytes *bytes);

// A model of 1 to FUZZ_JOINTS joints, of `types` (NULL: any); NULL when the bytes describe none. An error must have a text.
poise_model *fuzz_model(fuzz_bytes *bytes, const poise_joint_type *types, int type_count);

// A goal of any kind, sound or not. Pointers of the goal point to `q`, FUZZ_NUMBERS numbers.
poise_goal fuzz_goal(fuzz_bytes *bytes, const double *q);

// nq numbers.
void fuzz_configuration(fuzz_bytes *bytes, const poise_model *model, double *q);

// A clip of `least` to `most` frames, each a step of about a byte for each degree of freedom from the one before, or any
// numbers. Bytes that are 0 give one that moves, with the frame time given. NULL: the bytes describe none.
poise_clip *fuzz_clip(fuzz_bytes *bytes, const poise_model *model, int least, int most, double frame_time);

// q must be finite and, with `limited`, within the limits of the model.
void fuzz_check_answer(const poise_model *model, const double *q, bool limited);

#endif
