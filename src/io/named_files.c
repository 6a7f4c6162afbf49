// Where a file may be that another file names.
#include <poise/io.h>

#include <string.h>

enum { MOST_FOLDERS_UP = 8 };

// Does the text begin so? Then it is moved behind that.
static bool skip(const char **text, const char *beginning)
{
    size_t length = strlen(beginning);
    if (strncmp(*text, beginning, length) != 0) {
        return false;
    }
    *text += length;
    return true;
}

// From the root of a disk: "/robots/a.stl", "C:/robots/a.stl".
static bool is_absolute(const char *name)
{
    return name[0] == '/' || name[0] == '\\' || (name[0] != '\0' && name[1] == ':');
}

// Add to a path if there is room.
static bool append(char *path, size_t size, size_t *used, const char *text)
{
    size_t length = strlen(text);
    if (length >= size - *used) {
        return false;
    }
    memcpy(path + *used, text, length + 1);
    *used += length;
    return true;
}

bool poise_named_file(const char *folder, const char *name, int number, char *path, size_t size)
{
    if (!folder || !name || number < 0 || !path || size == 0) {
        return false;
    }
    bool in_package = skip(&name, "package://") || skip(&name, "model://");
    while (in_package && name[0] == '/') { // "package:///robot/arm.stl"
        name += 1;
    }
    bool as_it_is = !in_package && (skip(&name, "file://"), is_absolute(name));
    const char *in_it = in_package ? strchr(name, '/') : NULL;
    int ways = in_it ? 2 : 1, up = number / ways;
    if (up > (in_package ? MOST_FOLDERS_UP : 0)) {
        return false;
    }
    size_t used = 0;
    path[0] = '\0';
    bool fits = as_it_is || append(path, size, &used, folder);
    if (used > 0 && path[used - 1] != '/') {
        fits = fits && append(path, size, &used, "/");
    }
    for (int i = 0; i < up; ++i) {
        fits = fits && append(path, size, &used, "../");
    }
    return fits && append(path, size, &used, number % ways ? in_it + 1 : name);
}
