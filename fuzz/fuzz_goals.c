// Any bytes as goals in words, for a small arm: goals that the library accepts, or a reason.
#include "fuzz.h"

#include <poise/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static poise_model *make_model(void)
{
    static const char *const names[] = {"base", "arm", "left hand"};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_tool tool = {.name = "tip", .body = "left hand", .pose = (poise_pose){{0, 0, 0, 1}, {0, 0, 1}}};
    bool works = poise_builder_create(NULL, &builder, NULL) == POISE_OK;
    for (int k = 0; k < 3 && works; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = names[k];
        joint.parent = k > 0 ? names[k - 1] : NULL;
        joint.type = k == 0 ? POISE_JOINT_BALL_QUATERNION : POISE_JOINT_REVOLUTE;
        joint.mass = 1;
        works = poise_builder_add_joint(builder, &joint, NULL) == POISE_OK;
    }
    works = works && poise_builder_add_tool(builder, &tool, NULL) == POISE_OK;
    if (!works || poise_model_create(builder, NULL, &model, NULL) != POISE_OK) {
        abort();
    }
    poise_builder_destroy(builder);
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static poise_model *model;
    model = model ? model : make_model();
    char *text = malloc(size + 1);
    poise_error error = {.text = ""};
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    poise_goal_list *list = NULL;
    poise_goal_words words = {.model = model};
    if (poise_goal_list_create(NULL, &list, NULL) != POISE_OK) {
        abort();
    }
    bool works = poise_goal_list_parse(list, &words, text, &error) == POISE_OK;
    if (works ? error.text[0] != '\0' || list->count == 0 : error.text[0] == '\0') {
        fprintf(stderr, "broken: %s\n", works ? "goals without words" : "refused without a reason");
        abort();
    }
    for (int i = 0; i < list->count; ++i) {
        char shown[256];
        poise_goal_describe(&list->goals[i], model, shown, sizeof shown);
        if (poise_goal_check(&list->goals[i], model, NULL) != POISE_OK) {
            fprintf(stderr, "broken: the library does not take goal %d\n", i + 1);
            abort();
        }
    }
    poise_goal_list_destroy(list);
    free(text);
    return 0;
}
