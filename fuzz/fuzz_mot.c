// Any bytes as MOT, for a model with coordinates of every kind: the joints are called a, b, c, ...
#include "fuzz.h"

#include <stdlib.h>

static poise_model *make_model(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
    static const double slope[] = {1, 0};
    static const poise_curve curve = {.axis = {{0, 0, 1}}, .value = {{POISE_FUNCTION_POLYNOMIAL, 2, NULL, slope}}};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    if (poise_builder_create(NULL, &builder, NULL) != POISE_OK) {
        abort();
    }
    for (int type = 1; type < POISE_JOINT_TYPE_COUNT; ++type) {
        poise_joint joint = poise_joint_default();
        joint.name = names[type - 1];
        joint.parent = type > 1 ? names[type - 2] : NULL;
        joint.type = (poise_joint_type)type;
        joint.curve = type == POISE_JOINT_CURVE ? &curve : NULL;
        if (poise_builder_add_joint(builder, &joint, NULL) != POISE_OK) {
            abort();
        }
    }
    if (poise_model_create(builder, NULL, &model, NULL) != POISE_OK) {
        abort();
    }
    poise_builder_destroy(builder);
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static poise_model *model;
    model = model ? model : make_model();
    poise_file_destroy(fuzz_read(POISE_FORMAT_MOT, model, data, size));
    return 0;
}
