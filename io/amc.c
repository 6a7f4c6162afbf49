// AMC (Acclaim motion): frames of joint values for the bones of an ASF, which comes as options.model.
//
// A frame is a line with its number and a line for each bone: its name and its values. A bone that is missing from a frame,
// and a value that is no finite number, stay as in the frame before.
#include "io/asf.h"

#include "base/text.h"
#include "io/skeleton.h"

#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

enum { UNKNOWN_BONES, BAD_VALUES, WRONG_COUNTS, MISSING_BONES, ODD_NUMBERS, CAUSES };

typedef struct amc {
    pz_input *input;
    const poise_model *model;
    pz_scan scan;
    bool is_radians, has_angle_unit;
    double frame_time;
    asf_columns *columns; // by joint
    int *next;            // by joint: the one that came after it in the frame before, a guess; [joints]: the first
    int moving;           // joints with columns
    int last;             // joint of the last line; joints: none yet in this frame
    int seen;             // moving joints of this frame
    pz_cause causes[CAUSES];
} amc;

static poise_status prepare(amc *file)
{
    int joints = poise_model_info(file->model).joints;
    file->columns = pz_pool_take(&file->input->pool, (size_t)joints, sizeof *file->columns);
    file->next = pz_pool_take(&file->input->pool, (size_t)joints + 1, sizeof *file->next);
    if (!file->columns || !file->next) {
        return pz_input_no_memory(file->input);
    }
    for (int j = 0; j < joints; ++j) {
        if (!pz_asf_columns(file->model, j, &file->columns[j])) {
            return pz_input_fail(file->input, POISE_ERROR_UNSUPPORTED, 0,
                                 "joint \"%s\" of the model: an AMC has no %s joints; read the model from its ASF",
                                 poise_model_joint_info(file->model, j).name,
                                 poise_joint_type_name(poise_model_joint_info(file->model, j).type));
        }
        file->moving += file->columns[j].positions + file->columns[j].angles > 0 ? 1 : 0;
        file->next[j] = j + 1 < joints ? j + 1 : 0;
    }
    file->next[joints] = 0;
    file->last = joints;
    return POISE_OK;
}

static void take_comment(amc *file, pz_word word)
{
    double seconds;
    pz_word value;
    if (pz_word_is(word, AMC_TIME_COMMENT) && pz_scan_word_in_line(&file->scan, &value) && pz_word_number(value, &seconds) &&
        seconds > 0) {
        file->frame_time = seconds;
    }
}

// Comments and lines with a colon, up to the first frame.
static void take_header(amc *file)
{
    for (;;) {
        pz_scan before = file->scan;
        pz_word word, rest;
        if (!pz_scan_word(&file->scan, &word) || (word.text[0] != '#' && word.text[0] != ':')) {
            file->scan = before;
            return;
        }
        if (word.text[0] == '#') {
            take_comment(file, word);
        } else if (pz_word_is_like(word, ":degrees") || pz_word_is_like(word, ":radians")) {
            file->has_angle_unit = true;
            file->is_radians = pz_word_is_like(word, ":radians");
        } else if (!pz_word_is_like(word, ":fully-specified")) {
            pz_input_warn(file->input, file->scan.line, "unknown line with a colon, ignored");
        }
        pz_scan_line(&file->scan, &rest);
    }
}

// The joint with this name: mostly the one that followed the last joint in the frame before. -1: none.
static int joint_called(amc *file, pz_word word)
{
    int guess = file->next[file->last];
    if (pz_word_is(word, poise_model_joint_info(file->model, guess).name)) {
        file->last = guess;
        return guess;
    }
    char name[256];
    if (word.length >= sizeof name) {
        return -1;
    }
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    int found = strlen(name) == word.length ? poise_model_find_joint(file->model, name) : -1;
    found = found < 0 && strcmp(name, ASF_ROOT) == 0 ? pz_asf_root(file->model) : found; // whatever it is called there
    if (found >= 0) {
        file->next[file->last] = found;
        file->last = found;
    }
    return found;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\n' || c == '\r';
}

// The next value of a line into *value, if it is there and a finite number. False at the end of the line.
static bool take_value(amc *file, bool is_angle, double *value)
{
    const char *at = file->scan.at, *end = file->scan.end;
    while (at < end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
    double read;
    const char *after = is_angle && !file->is_radians ? pz_number_read_scaled(at, end, PZ_RADIANS_PER_DEGREE, &read)
                                                      : pz_number_read(at, end, &read);
    if (after > at && (after == end || is_blank(*after)) && read - read == 0.0) {
        file->scan.at = after;
        *value = read;
        return true;
    }
    pz_word word;
    bool is_there = pz_scan_word_in_line(&file->scan, &word);
    if (is_there && pz_is_among_first(&file->causes[BAD_VALUES])) {
        pz_input_warn(file->input, file->scan.line,
                      "a value that is not a finite number; the value of the previous frame is kept");
    }
    return is_there;
}

// The values of a joint; value i of n angles is coordinate n - 1 - i.
static void take_values(amc *file, int joint, double *q)
{
    asf_columns columns = file->columns[joint];
    int expected = columns.positions + columns.angles, count = 0;
    while (count < expected) {
        int angle = count - columns.positions;
        int coordinate = angle < 0 ? count : columns.positions + columns.angles - 1 - angle;
        if (!take_value(file, angle >= 0, &q[columns.first + coordinate])) {
            break;
        }
        ++count;
    }
    pz_word rest;
    bool is_more = pz_scan_word_in_line(&file->scan, &rest);
    if ((count < expected || is_more) && pz_is_among_first(&file->causes[WRONG_COUNTS])) {
        pz_input_warn(file->input, file->scan.line, "bone \"%s\": %s than %d values",
                      poise_model_joint_info(file->model, joint).name, is_more ? "more" : "fewer", expected);
    }
    file->seen += expected > 0 && count > 0 ? 1 : 0;
}

// Is the rest of a line nothing but zeros? So a root stands that only the file has.
static bool stands_still(amc *file)
{
    double value = 0.0;
    while (value == 0.0 && take_value(file, false, &value)) {
    }
    return value == 0.0;
}

// The lines of a frame after its number, into q.
static void take_frame(amc *file, double *q)
{
    int joints = poise_model_info(file->model).joints;
    file->last = joints;
    file->seen = 0;
    for (;;) {
        pz_scan before = file->scan;
        pz_word word, rest;
        if (!pz_scan_word(&file->scan, &word)) {
            return;
        }
        if (is_digit(word.text[0])) {
            file->scan = before;
            return;
        }
        int joint = word.text[0] == '#' ? -1 : joint_called(file, word);
        if (joint >= 0) {
            take_values(file, joint, q);
        } else if (word.text[0] != '#' && !(pz_word_is(word, ASF_ROOT) && stands_still(file)) &&
                   pz_is_among_first(&file->causes[UNKNOWN_BONES])) {
            pz_input_warn(file->input, file->scan.line, "a bone that is not in the model, ignored");
        }
        pz_scan_line(&file->scan, &rest);
    }
}

// Lines that begin with a digit: as many as there are frames, but no more than the text has room for when half of the bones
// of each frame are there.
static int frames_at_most(const amc *file)
{
    size_t count = 0;
    pz_scan scan = file->scan;
    pz_word line;
    while (pz_scan_line(&scan, &line)) {
        size_t i = 0;
        while (i < line.length && (line.text[i] == ' ' || line.text[i] == '\t')) {
            ++i;
        }
        count += i < line.length && is_digit(line.text[i]) ? 1 : 0;
    }
    size_t room = (size_t)(scan.end - file->scan.at) / (size_t)(file->moving > 0 ? file->moving : 1) + 1;
    size_t most = count < room ? count : room;
    return most < INT32_MAX ? (int)most : INT32_MAX;
}

static void warn_of_frame(amc *file, int line, int number, int expected)
{
    if (number != expected && pz_is_among_first(&file->causes[ODD_NUMBERS])) {
        pz_input_warn(file->input, line, "frame %d found where frame %d was expected", number, expected);
    }
    if (file->seen < file->moving && pz_is_among_first(&file->causes[MISSING_BONES])) {
        pz_input_warn(file->input, line, "frame %d: %d bones are missing; %s", number, file->moving - file->seen,
                      2 * file->seen < file->moving ? "left out" : "they keep the values of the previous frame");
    }
}

static poise_status take_frames(amc *file, poise_clip *clip, int *frames)
{
    size_t nq = (size_t)clip->nq;
    int number = 0, expected = 0;
    pz_word word, rest;
    while (*frames < clip->frames && pz_scan_word(&file->scan, &word)) {
        int line = file->scan.line;
        if (word.text[0] == '#') {
            pz_scan_line(&file->scan, &rest);
            continue;
        }
        if (!pz_word_integer(word, &number)) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, line, "expected the number of a frame");
        }
        if (expected == 0) {
            clip->start_time = (number - 1) * clip->frame_time;
            expected = number;
        }
        double *q = clip->q + (size_t)*frames * nq;
        if (*frames > 0) {
            memcpy(q, q - nq, nq * sizeof *q);
        }
        take_frame(file, q);
        warn_of_frame(file, line, number, expected);
        expected = number < INT32_MAX ? number + 1 : number;
        *frames += 2 * file->seen >= file->moving ? 1 : 0;
    }
    return POISE_OK;
}

static poise_status read_clip(amc *file)
{
    int most = frames_at_most(file), frames = 0;
    poise_clip *clip;
    if (poise_clip_create(most, poise_model_info(file->model).nq, file->frame_time, file->input->allocator, &clip, NULL) !=
        POISE_OK) {
        return pz_input_no_memory(file->input);
    }
    file->input->file->clip = clip;
    poise_status status = take_frames(file, clip, &frames);
    return status == POISE_OK ? pz_input_keep_clip(file->input, clip, frames) : status;
}

poise_status pz_read_amc(pz_input *input)
{
    amc file = {.input = input,
                .model = input->options->model,
                .scan = pz_scan_over(input->bytes, input->size),
                .causes = {[UNKNOWN_BONES].what = "lines of bones that are not in the model",
                           [BAD_VALUES].what = "values that are not finite numbers",
                           [WRONG_COUNTS].what = "bones with a wrong number of values",
                           [MISSING_BONES].what = "frames with bones missing",
                           [ODD_NUMBERS].what = "frames with an odd number"}};
    if (!file.model) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "an AMC needs the skeleton of its ASF: give it as model");
    }
    if (poise_model_info(file.model).joints == 0) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "the model has no joints");
    }
    poise_status status = prepare(&file);
    if (status != POISE_OK) {
        return status;
    }
    take_header(&file);
    if (!file.has_angle_unit) {
        pz_input_warn(input, 0, "neither :DEGREES nor :RADIANS; degrees assumed");
    }
    if (file.frame_time == 0) {
        pz_input_warn(input, 0, "an AMC does not give its frame rate; 120 frames per second assumed");
        file.frame_time = AMC_FRAME_TIME;
    }
    status = read_clip(&file);
    if (status == POISE_OK) {
        pz_causes_close(input, file.causes, CAUSES);
        if (input->file->clip->frames == 0) {
            status = pz_input_fail(input, POISE_ERROR_FORMAT, file.scan.line, "no frames");
        }
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void put_frame(const poise_model *model, const double *q, pz_output *output)
{
    int joints = poise_model_info(model).joints, root = pz_asf_root(model);
    if (root < 0) {
        pz_put(output, ASF_ROOT " 0 0 0 0 0 0\n"); // the one that an ASF of this model gets
    }
    for (int j = 0; j < joints; ++j) {
        asf_columns columns;
        pz_asf_columns(model, j, &columns);
        if (columns.positions + columns.angles == 0) {
            continue;
        }
        if (j == root) {
            pz_put(output, ASF_ROOT);
        } else {
            pz_asf_put_name(output, poise_model_joint_info(model, j).name);
        }
        for (int i = 0; i < columns.positions; ++i) {
            pz_put(output, " ");
            pz_put_number(output, q[columns.first + i]);
        }
        for (int i = columns.angles - 1; i >= 0; --i) {
            pz_put(output, " ");
            pz_put_degrees(output, q[columns.first + columns.positions + i]);
        }
        pz_put(output, "\n");
    }
}

poise_status pz_write_amc(const poise_file *file, pz_output *output)
{
    poise_status status = pz_check_model(file, output, "AMC");
    if (status != POISE_OK) {
        return status;
    }
    const poise_clip *clip = file->clip;
    if (!clip) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "AMC: there is no clip to write");
    }
    for (int j = 0; status == POISE_OK && j < poise_model_info(file->model).joints; ++j) {
        asf_columns columns;
        if (!pz_asf_columns(file->model, j, &columns)) {
            status = pz_error_set(output->error, POISE_ERROR_UNSUPPORTED, "joint \"%s\": an AMC has no %s joints",
                                  poise_model_joint_info(file->model, j).name,
                                  poise_joint_type_name(poise_model_joint_info(file->model, j).type));
        }
    }
    if (status != POISE_OK) {
        return status;
    }
    pz_put(output, AMC_TIME_COMMENT " ");
    pz_put_number(output, clip->frame_time);
    pz_put(output, "\n:FULLY-SPECIFIED\n:DEGREES\n");
    double first = clip->start_time / clip->frame_time;
    long long number = first > 0 && first < 1e9 ? (long long)(first + 0.5) + 1 : 1;
    for (int f = 0; f < clip->frames && !output->failed; ++f) {
        status = pz_check_finite(output, clip, f);
        if (status != POISE_OK) {
            return status;
        }
        pz_put_integer(output, number + f);
        pz_put(output, "\n");
        put_frame(file->model, clip->q + (size_t)f * (size_t)clip->nq, output);
    }
    return POISE_OK;
}
