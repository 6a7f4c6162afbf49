// Files that people have and Poise does not read: what they are, and the way out.
#include "io/io_core.h"

#include <string.h>

typedef struct foreign {
    const char *name;       // what it is
    const char *beginnings; // of its bytes, one of these, separated by newlines; NULL: they do not tell
    const char *extensions; // separated by spaces
    const char *way;        // what to do instead
} foreign;

static const char blender[] = "import it into Blender and export glTF (.glb) or BVH";
static const char vicon[] = "export C3D from Vicon's program";
static const char unpack[] = "unpack it first";

static const foreign rows[] = {
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
static const foreign *find(const void *bytes, size_t size, const char *name)
{
    pz_word content = content_of(bytes, size);
    const size_t count = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < count; ++i) {
        if (rows[i].beginnings && begins_with_one(content, rows[i].beginnings)) {
            return &rows[i];
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (rows[i].extensions && has_extension(name, rows[i].extensions)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool pz_is_foreign(const void *bytes, size_t size, const char *name)
{
    return find(bytes, size, name) != NULL;
}

poise_status pz_refuse_unknown(const void *bytes, size_t size, const char *name, poise_error *error)
{
    const foreign *row = find(bytes, size, name);
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
