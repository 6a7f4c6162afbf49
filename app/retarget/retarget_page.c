// A page about a motion that was retargeted: both figures side by side, contacts, the numbers.
#include "page/page.h"
#include "retarget_parts.h"

static json_node *figure_of(const retarget_job *j, bool is_target, int step)
{
    int body[POISE_ROLE_COUNT];
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        body[role] = is_target ? j->map.role[role].to : j->map.role[role].from;
    }
    return is_target ? page_figure(j->target->model, j->clip, body, j->outcome.to_up, page_name(j->model_name), step)
                     : page_figure(j->from, j->source, body, j->outcome.from_up, page_name(j->motion_name), step);
}

bool retarget_page(const retarget_job *j, const char *name, const arguments *args)
{
    int frames = j->clip->frames;
    int step = page_step(frames, poise_model_info(j->from).joints + poise_model_info(j->target->model).joints);
    json_node *data = retarget_as_json(j, NULL);
    json_set(data, "motion", json_from_text(page_name(j->motion_name)));
    json_set(data, "model", json_from_text(page_name(j->model_name)));
    json_set(data, "metres", json_from_number(j->metres));
    json_set(data, "contacts", page_packed(j->contacts, (size_t)frames));
    json_set(data, "source", figure_of(j, false, step));
    json_set(data, "target", figure_of(j, true, step));
    return page_write_pair(data, args, frames, step, name);
}
