// Poise: inverse kinematics with exact second derivatives. This header includes all the others except cuda.h, whose library
// is built only if there is a CUDA compiler. io.h and opensim.h belong to a separate library, poise_io,
// papers.h, express.h and expressive.h to another, poise_papers.
#ifndef POISE_POISE_H
#define POISE_POISE_H

#include <poise/base.h>
#include <poise/batch.h>
#include <poise/constraint.h>
#include <poise/edit.h>
#include <poise/express.h>
#include <poise/expressive.h>
#include <poise/filter.h>
#include <poise/goal.h>
#include <poise/hull.h>
#include <poise/io.h>
#include <poise/kinematics.h>
#include <poise/math.h>
#include <poise/method.h>
#include <poise/model.h>
#include <poise/motion.h>
#include <poise/objective.h>
#include <poise/opensim.h>
#include <poise/papers.h>
#include <poise/recordings.h>
#include <poise/retarget.h>
#include <poise/rotation.h>
#include <poise/sensitivity.h>
#include <poise/sequence.h>
#include <poise/solve.h>
#include <poise/track.h>
#include <poise/verdict.h>

#endif
