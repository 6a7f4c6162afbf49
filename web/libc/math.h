// The part of <math.h> that Poise uses, for builds without a C library: the functions are instructions of wasm.
#ifndef WEB_LIBC_MATH_H
#define WEB_LIBC_MATH_H

#define INFINITY (__builtin_inff())
#define NAN      (__builtin_nanf(""))

#define isfinite(x) (__builtin_isfinite(x))

double sqrt(double x);
double fabs(double x);
double floor(double x);

#endif
