// A user's program with files, against the installed libraries: a motion from a text.
#include <poise/io.h>
#include <poise/poise.h>
#include <stdio.h>

static const char text[] = "HIERARCHY\n"
                           "ROOT hip\n"
                           "{\n"
                           "  OFFSET 0 0 0\n"
                           "  CHANNELS 3 Zrotation Xrotation Yrotation\n"
                           "  End Site\n"
                           "  {\n"
                           "    OFFSET 0 1 0\n"
                           "  }\n"
                           "}\n"
                           "MOTION\n"
                           "Frames: 2\n"
                           "Frame Time: 0.01\n"
                           "0 0 0\n"
                           "90 0 0\n";

int main(void)
{
    poise_file *file = NULL;
    poise_error error;
    if (poise_read(text, sizeof text - 1, NULL, NULL, &file, &error) != POISE_OK) {
        printf("line %d: %s\n", error.line, error.text);
        return 1;
    }
    bool is_right = poise_model_find_tool(file->model, "hip.tip") == 0 && file->clip && file->clip->frames == 2 &&
                    file->clip->q[3] > 1.57 && file->clip->q[3] < 1.58;
    printf("Poise %s: %s of %d frames\n", poise_version(), poise_format_name(file->format), file->clip->frames);
    poise_file_destroy(file);
    return is_right ? 0 : 1;
}
