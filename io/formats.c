// The formats, one row each: how bytes say which one they are, the frame of every read and write, and formats that people
// have and Poise does not read.
//
// A reader takes memory from a pool that is released when the read ends, says what failed or is odd, and fills a poise_file,
// which poise_read hands out in one piece. A writer fills bytes, which poise_write hands out.
#include "io/io_core.h"

#include "base/arena.h"

#include <string.h>

// ---- The table -----------------------------------------------------------------------------------------------------------

static const pz_format_row *const format_rows[POISE_FORMAT_COUNT] = {
    [POISE_FORMAT_URDF] = &pz_urdf_format, [POISE_FORMAT_MJCF] = &pz_mjcf_format, [POISE_FORMAT_BVH] = &pz_bvh_format,
    [POISE_FORMAT_ASF] = &pz_asf_format,   [POISE_FORMAT_AMC] = &pz_amc_format,   [POISE_FORMAT_C3D] = &pz_c3d_format,
    [POISE_FORMAT_TRC] = &pz_trc_format,   [POISE_FORMAT_MOT] = &pz_mot_format,   [POISE_FORMAT_GLTF] = &pz_gltf_format,
    [POISE_FORMAT_GLB] = &pz_glb_format,   [POISE_FORMAT_DH] = &pz_dh_format,     [POISE_FORMAT_JSON] = &pz_json_format,
    [POISE_FORMAT_OSIM] = &pz_osim_format, [POISE_FORMAT_SRDF] = &pz_srdf_format,
};

// NULL outside the enumeration, and for UNKNOWN.
static const pz_format_row *row_of(poise_format format)
{
    return (unsigned)format < POISE_FORMAT_COUNT ? format_rows[format] : NULL;
}

// ---- Formats that are known by name and not read -------------------------------------------------------------------------
//
// What they are, and the way out.

typedef struct foreign {
    const char *name;       // what it is
    const char *beginnings; // of its bytes, one of these, separated by newlines; NULL: they do not tell
    const char *extensions; // separated by spaces
    const char *way;        // what to do instead
} foreign;

static const char blender[] = "import it into Blender and export glTF (.glb) or BVH";
static const char vicon[] = "export C3D from Vicon's program";
static const char unpack[] = "unpack it first";

static const foreign foreign_rows[] = {
    {"FBX", "Kaydara FBX\n; FBX", ".fbx", blender},
    {"USD", "#usda\nPXR-USDC", ".usd .usda .usdc .usdz", blender},
    {"a Blender file", "BLENDER", ".blend .blend1", "export glTF (.glb) or BVH from Blender"},
    {"COLLADA", "<COLLADA", ".dae", blender},
    {"a Babylon.js scene", "{\"producer\"", ".babylon", "export glTF (.glb) from Blender or the Babylon.js sandbox"},
    {"Alembic", "Ogawa", ".abc", blender},
    {"a Maya scene", "//Maya ASCII", ".ma .mb", "export FBX from Maya; then, in Blender, glTF (.glb) or BVH"},
    {"a 3ds Max file", NULL, ".max .bip .csm", "export BVH or FBX from 3ds Max; FBX becomes glTF (.glb) or BVH in Blender"},
    {"a Cinema 4D file", "QC4DC4D6", ".c4d", "export glTF (.glb) from Cinema 4D"},
    {"an animation of MikuMikuDance", "Vocaloid Motion Data", ".vmd .pmx .pmd", blender},
    {"a binary TRB recording", NULL, ".trb", "save it as TRC or C3D in Cortex or EVaRT"},
    {"an HTR motion of Motion Analysis", "[Header]\n#Header", ".htr .htr2", "export BVH or TRC from Cortex or EVaRT"},
    {"a Vicon skeleton", "<KinematicModel\n<kinematicModel", ".vsk .vst .vss",
     "track the recording's markers (C3D) on another skeleton, such as scene:humanoid"},
    {"a Vicon recording", NULL, ".mcp .x1d .x2d .tvd .system .xcp", vicon},
    {"a Qualisys recording", NULL, ".qtm", "export C3D or TRC from Qualisys Track Manager"},
    {"a table of Qualisys", "NO_OF_FRAMES", ".tsv", "export C3D or TRC from Qualisys Track Manager"},
    {"an OptiTrack take", NULL, ".tak .ttp", "export C3D or BVH from Motive"},
    {"a table of OptiTrack's Motive", "Format Version,", NULL, "export C3D or BVH from Motive"},
    {"an Xsens recording", "<mvnx", ".mvn .mvnx", "export BVH or C3D from MVN Analyze"},
    {"an SDF model", "<sdf", ".sdf", "convert it to URDF or MJCF"},
    {"a xacro file", NULL, ".xacro", "run xacro on the file of the whole robot and use its output"},
    {"a workspace of Visual3D", NULL, ".cmo .cmz", "export C3D from Visual3D"},
    {"a numpy archive, as SMPL and AMASS have it", "\x93NUMPY", ".npz .npy",
     "export BVH or glTF (.glb) with SMPL's add-on for Blender"},
    {"a Python pickle, as SMPL and AIST have it", NULL, ".pkl .pickle",
     "export BVH or glTF (.glb) with SMPL's add-on for Blender"},
    {"a MATLAB file", "MATLAB 5.0 MAT-file", ".mat", "write its markers as TRC or C3D"},
    {"a compressed file",
     "\x1f\x8b\nPK\x03\x04\n7z\xbc\xaf\nRar!\nBZh\n\xfd"
     "7zXZ\n\x28\xb5\x2f\xfd",
     ".zip .gz .7z .rar .xz .bz2", unpack},
    {"a mesh", NULL, ".stl .obj .ply .vtp .off .3ds", "open the URDF, MJCF or OpenSim model that names it"},
    {"a picture", "\x89PNG\n\xff\xd8\xff", ".png .jpg .jpeg .webp .gif .bmp .tga", "open the model whose meshes show it"},
    {"a CAD file", "ISO-10303-21", ".step .stp .iges .igs .sldprt .sldasm .f3d", "export URDF or MJCF from the CAD program"},
    {"a web page", "<!DOCTYPE html\n<!doctype html\n<html", ".html .htm", "download the file itself"},
    {"a pointer of Git LFS", "version https://git-lfs", NULL, "\"git lfs pull\" fetches the file itself"},
};

// Does a text begin with one of the lines of `beginnings`?
static bool begins_with_one(pz_word text, const char *beginnings)
{
    for (const char *at = beginnings; at;) {
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        if (text.length >= length && memcmp(text.text, at, length) == 0) {
            return true;
        }
        at = end ? end + 1 : NULL;
    }
    return false;
}

// Past a byte-order mark, white space and what XML may have before its first element.
static pz_word content_of(const void *bytes, size_t size)
{
    pz_scan scan = pz_scan_over(bytes, size);
    while (pz_scan_skip(&scan) && scan.end - scan.at > 4 &&
           (memcmp(scan.at, "<?xm", 4) == 0 || memcmp(scan.at, "<!--", 4) == 0)) {
        const char *close = memchr(scan.at, '>', (size_t)(scan.end - scan.at));
        scan.at = close ? close + 1 : scan.end;
    }
    return (pz_word){scan.at, (size_t)(scan.end - scan.at)};
}

static bool has_extension(const char *name, const char *extensions)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    pz_scan scan = pz_scan_over(extensions, strlen(extensions));
    pz_word word;
    while (dot && pz_scan_word(&scan, &word)) {
        if (pz_word_is_like(word, dot)) {
            return true;
        }
    }
    return false;
}

// By content first: names lie more often.
static const foreign *find_foreign(const void *bytes, size_t size, const char *name)
{
    pz_word content = content_of(bytes, size);
    const size_t count = sizeof foreign_rows / sizeof foreign_rows[0];
    for (size_t i = 0; i < count; ++i) {
        if (foreign_rows[i].beginnings && begins_with_one(content, foreign_rows[i].beginnings)) {
            return &foreign_rows[i];
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (foreign_rows[i].extensions && has_extension(name, foreign_rows[i].extensions)) {
            return &foreign_rows[i];
        }
    }
    return NULL;
}

// Why these bytes, of no format that is read, are refused, with the way out. Never POISE_OK.
static poise_status refuse_unknown(const void *bytes, size_t size, const char *name, poise_error *error)
{
    const foreign *row = find_foreign(bytes, size, name);
    if (row) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "this is %s, which Poise does not read; %s", row->name,
                            row->way);
    }
    if (size == 0) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "the file is empty");
    }
    return pz_error_set(error, POISE_ERROR_FORMAT,
                        "the format is clear neither from its content nor from its name; \"poise help formats\" lists them");
}

// ---- Detection -----------------------------------------------------------------------------------------------------------
//
// The beginning of the bytes says it for all but a few; then the name does.

// ---- XML -----------------------------------------------------------------------------------------------------------------

// Past the next `mark`; the end when there is none.
static const char *past(const char *at, const char *end, const char *mark)
{
    size_t length = strlen(mark);
    for (; (size_t)(end - at) >= length; ++at) {
        if (memcmp(at, mark, length) == 0) {
            return at + length;
        }
    }
    return end;
}

static bool starts_with(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

static poise_format detect_xml(const char *at, const char *end)
{
    for (;;) {
        at = past(at, end, "<");
        if (at >= end) {
            return POISE_FORMAT_UNKNOWN;
        }
        if (starts_with(at, end, "!--")) {
            at = past(at + 3, end, "-->");
        } else if (*at == '?' || *at == '!') {
            at = past(at, end, ">");
        } else if (starts_with(at, end, "robot")) {
            bool is_srdf = past(at, end, "<disable_collisions") < end || past(at, end, "<group_state") < end;
            return is_srdf && past(at, end, "<child ") == end ? POISE_FORMAT_SRDF : POISE_FORMAT_URDF;
        } else if (starts_with(at, end, "mujoco")) {
            return POISE_FORMAT_MJCF;
        } else if (starts_with(at, end, "OpenSimDocument")) {
            return POISE_FORMAT_OSIM;
        } else {
            return POISE_FORMAT_UNKNOWN;
        }
    }
}

// ---- JSON ----------------------------------------------------------------------------------------------------------------

// Past the string that begins after the quotation mark before `at`; its text without the marks goes to *text.
static const char *past_string(const char *at, const char *end, pz_word *text)
{
    const char *first = at;
    while (at < end && *at != '"') {
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    }
    *text = (pz_word){first, (size_t)(at - first)};
    return at < end ? at + 1 : end;
}

// By the members of the outermost object.
static poise_format detect_json(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        char c = *at++;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == '"') {
            pz_word text;
            at = past_string(at, end, &text);
            if (depth == 1 && pz_word_is(text, "asset")) {
                return POISE_FORMAT_GLTF;
            }
            if (depth == 1 && pz_word_is(text, "poise")) {
                return POISE_FORMAT_JSON;
            }
        }
    }
    return POISE_FORMAT_UNKNOWN;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------

// Words of a table of Denavit-Hartenberg parameters in its first line, between commas, semicolons or white space.
static bool is_dh_header(pz_word line)
{
    unsigned seen = 0;
    for (size_t i = 0; i < line.length;) {
        size_t length = 0;
        while (i + length < line.length && !strchr(",; \t\"", line.text[i + length])) {
            ++length;
        }
        static const char *const names[] = {"a", "alpha", "d", "theta"};
        for (unsigned k = 0; k < 4; ++k) {
            size_t stem = 0; // up to a unit, as in alpha_deg
            while (stem < length && line.text[i + stem] != '_') {
                ++stem;
            }
            seen |= pz_word_is_like((pz_word){line.text + i, stem}, names[k]) ? 1u << k : 0;
        }
        i += length + 1;
    }
    return seen == 15;
}

#define HEADER_LINES 64 // of a MOT file, in which its "endheader" must come

static bool has_end_of_header(pz_scan scan)
{
    pz_word line;
    for (int i = 0; i < HEADER_LINES && pz_scan_line(&scan, &line); ++i) {
        pz_scan inner = pz_scan_over(line.text, line.length);
        pz_word word;
        if (pz_scan_word(&inner, &word) && (pz_word_is_like(word, "endheader") || pz_ends_header_with_commas(word))) {
            return true;
        }
    }
    return false;
}

static poise_format detect_text(pz_scan scan)
{
    pz_scan start = scan;
    pz_word line = {scan.at, 0}, word = {scan.at, 0};
    while (word.length == 0 || word.text[0] == '#') { // skip empty lines and comments
        if (!pz_scan_line(&scan, &line)) {
            return POISE_FORMAT_UNKNOWN;
        }
        pz_scan inner = {.at = line.text, .end = line.text + line.length, .line = 1};
        pz_scan_word(&inner, &word);
    }
    static const struct {
        const char *word;
        poise_format format;
    } beginnings[] = {
        {"HIERARCHY", POISE_FORMAT_BVH}, {":version", POISE_FORMAT_ASF},       {":name", POISE_FORMAT_ASF},
        {":units", POISE_FORMAT_ASF},    {":documentation", POISE_FORMAT_ASF}, {":root", POISE_FORMAT_ASF},
        {":bonedata", POISE_FORMAT_ASF}, {":hierarchy", POISE_FORMAT_ASF},     {":fully-specified", POISE_FORMAT_AMC},
        {":degrees", POISE_FORMAT_AMC},  {":radians", POISE_FORMAT_AMC},       {"PathFileType", POISE_FORMAT_TRC},
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; ++i) {
        if (pz_word_is_like(word, beginnings[i].word)) {
            return beginnings[i].format;
        }
    }
    if (is_dh_header(line)) {
        return POISE_FORMAT_DH;
    }
    return pz_begins_table(line) || has_end_of_header(start) ? POISE_FORMAT_MOT : POISE_FORMAT_UNKNOWN;
}

// ---- Bytes, then the name ------------------------------------------------------------------------------------------------

// A C3D begins with the number of its first parameter block and the letter P. A text may have that letter second, too, but
// not after a control character other than tab and the ends of lines, nor with a zero in its first 512 bytes, where a C3D
// header is nearly nothing else.
static bool is_c3d(const unsigned char *bytes, size_t size)
{
    bool begins = size >= 2 && bytes[1] == 0x50 && bytes[0] > 0;
    bool is_text = begins && (bytes[0] >= 0x20 || strchr("\t\n\v\f\r", bytes[0]));
    return begins && (!is_text || memchr(bytes, 0, size < 512 ? size : 512));
}

static poise_format detect_content(const void *bytes, size_t size)
{
    if (is_c3d(bytes, size)) {
        return POISE_FORMAT_C3D;
    }
    if (size >= 4 && memcmp(bytes, "glTF", 4) == 0) {
        return POISE_FORMAT_GLB;
    }
    pz_scan scan = pz_scan_over(bytes, size);
    pz_scan start = scan;
    pz_word word;
    if (!pz_scan_word(&scan, &word)) {
        return POISE_FORMAT_UNKNOWN;
    }
    switch (word.text[0]) {
    case '<':
        return detect_xml(word.text, scan.end);
    case '{':
        return detect_json(word.text, scan.end);
    default:
        return detect_text(start);
    }
}

static poise_format detect_name(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot) {
        return POISE_FORMAT_UNKNOWN;
    }
    pz_word extension = {dot, strlen(dot)};
    for (int f = POISE_FORMAT_UNKNOWN + 1; f < POISE_FORMAT_COUNT; ++f) {
        const pz_format_row *row = row_of((poise_format)f);
        if (row && pz_word_is_like(extension, row->extension)) {
            return (poise_format)f;
        }
    }
    return pz_word_is_like(extension, ".sto") ? POISE_FORMAT_MOT : POISE_FORMAT_UNKNOWN;
}

poise_format poise_format_detect(const void *bytes, size_t size, const char *name)
{
    poise_format format = bytes && size > 0 ? detect_content(bytes, size) : POISE_FORMAT_UNKNOWN;
    bool is_open = format == POISE_FORMAT_UNKNOWN && !(bytes && find_foreign(bytes, size, NULL));
    return is_open ? detect_name(name) : format;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

// A file as it is handed out: one allocation with its warnings and title.
typedef struct whole_file {
    poise_file file; // first, so that a pointer to it is one to this
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept; // goals, postures, placements
} whole_file;

static void release_parts(poise_file *file)
{
    poise_model_destroy(file->model);
    poise_clip_destroy(file->clip);
    poise_markers_destroy(file->markers);
}

void poise_file_destroy(poise_file *file)
{
    if (file) {
        whole_file *whole = (whole_file *)(void *)file;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        release_parts(file);
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

// Move what the pool holds of the file into an allocation of its own.
static poise_file *hand_out(const poise_file *file, const pz_pool *kept, const poise_allocator *allocator)
{
    size_t title = file->title ? strlen(file->title) + 1 : 0;
    size_t warnings = (size_t)file->warning_count * sizeof *file->warnings;
    whole_file *whole = pz_allocate(allocator, sizeof *whole + warnings + title);
    if (!whole) {
        return NULL;
    }
    *whole = (whole_file){.file = *file, .has_allocator = allocator != NULL, .kept = {.blocks = kept->blocks}};
    if (allocator) {
        whole->allocator = *allocator;
    }
    unsigned char *rest = (unsigned char *)(whole + 1);
    whole->file.warnings = warnings ? memcpy(rest, file->warnings, warnings) : NULL;
    whole->file.title = title ? memcpy(rest + warnings, file->title, title) : NULL;
    return &whole->file;
}

poise_status poise_read(const void *bytes, size_t size, const poise_read_options *options, const poise_allocator *allocator,
                        poise_file **file, poise_error *error)
{
    if ((!bytes && size > 0) || !file) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and file must not be NULL");
    }
    poise_read_options given = options ? *options : (poise_read_options){0};
    poise_format format = given.format;
    if (format == POISE_FORMAT_UNKNOWN) {
        format = poise_format_detect(bytes, size, given.name);
    }
    const pz_format_row *row = row_of(format);
    if (!row || !row->read) {
        return refuse_unknown(bytes, size, given.name, error);
    }
    poise_file filling = {.format = format};
    pz_input input = {.bytes = bytes ? bytes : (const void *)"",
                      .size = size,
                      .options = &given,
                      .allocator = allocator,
                      .pool = {.allocator = allocator},
                      .kept = {.allocator = allocator},
                      .file = &filling,
                      .error = error};
    poise_status status = row->read(&input);
    poise_file *whole = status == POISE_OK ? hand_out(&filling, &input.kept, allocator) : NULL;
    if (status == POISE_OK && !whole) {
        status = pz_input_no_memory(&input);
    }
    if (status != POISE_OK) {
        release_parts(&filling);
        pz_pool_release(&input.kept);
    }
    pz_pool_release(&input.pool);
    if (status == POISE_OK) {
        *file = whole;
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

poise_status poise_write(const poise_file *file, poise_format format, const poise_allocator *allocator, void **bytes,
                         size_t *size, poise_warning *warnings, int *warning_count, poise_error *error)
{
    if (!file || !bytes || !size || (warnings && !warning_count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "file, bytes and size must not be NULL, and warnings need warning_count");
    }
    const pz_format_row *row = row_of(format);
    if (!row || !row->write) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "%s: not a format that can be written",
                            poise_format_name(format));
    }
    pz_output output = {.allocator = allocator,
                        .error = error,
                        .warnings = warnings,
                        .warning_capacity = warnings && warning_count ? *warning_count : 0};
    poise_format kind = format == POISE_FORMAT_GLB ? POISE_FORMAT_GLTF : format;
    if (file->carried && file->carried->format != kind && file->carried->text[0]) {
        pz_output_warn(&output, "left out: %s", file->carried->text);
    }
    if (file->clip && row->is_still) {
        pz_output_warn(&output, "left out: the motion, which %s files do not hold", row->extension);
    }
    poise_status status = row->write(file, &output);
    pz_put_bytes(&output, "", 0); // so that an empty file has its zero, too
    if (status == POISE_OK && output.failed) {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    if (status != POISE_OK) {
        pz_release(allocator, output.bytes);
        return status;
    }
    output.bytes[output.size] = '\0';
    *bytes = output.bytes;
    *size = output.size;
    if (warning_count) {
        *warning_count = output.warning_count;
    }
    return POISE_OK;
}

void poise_bytes_release(const poise_allocator *allocator, void *bytes)
{
    pz_release(allocator, bytes);
}
