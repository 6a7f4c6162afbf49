// Poise: the methods of the literature, for comparison: libpoise_papers.
//
//   options.method = POISE_METHOD_LBFGS;
//   options.engine = poise_papers_engine(options.method);
//
// docs/methods.md names their sources. ERIK (<poise/express.h>) and its successor (<poise/expressive.h>) are in the same
// library. Link with Poise::poise_papers (find_package(Poise REQUIRED COMPONENTS papers)) or `pkg-config poise_papers`.
#ifndef POISE_PAPERS_H
#define POISE_PAPERS_H

#include <poise/method.h>

#ifdef __cplusplus
extern "C" {
#endif

// The engine of a method; NULL for those that the solver has itself (AUTO, LEVENBERG_MARQUARDT, PRIORITY) and outside the
// enumeration.
POISE_API const poise_method_engine *poise_papers_engine(poise_method method);

#ifdef __cplusplus
}
#endif

#endif
