// Erik, Expressive and Filter: a posture held while goals are met, and set-points made smooth.
#include "extension.h"

#include <string.h>

// ---- ERIK ----------------------------------------------------------------------------------------------------------------
bool express_add(PyObject *module)
{
    (void)module;
    return true;
}
