// Own exponential and logarithm, for shapes of curves: a few ulp, the same bits on every compiler.
#ifndef PZ_MATH_EXPONENTIAL_H
#define PZ_MATH_EXPONENTIAL_H

// e^x; 0 below -700 and e^700 above 700, so that it never overflows.
double pz_exp(double x);

// Natural logarithm of x > 0; that of the smallest normal number below it.
double pz_log(double x);

// x^y for x >= 0; 0^y is 0.
double pz_power(double x, double y);

#endif
