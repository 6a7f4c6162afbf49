// The formats: one row each.
#include "io/io_core.h"

static const pz_format_row rows[POISE_FORMAT_COUNT] = {
    [POISE_FORMAT_UNKNOWN] = {"unknown", "", NULL, NULL},
    [POISE_FORMAT_URDF] = {"urdf", ".urdf", pz_read_urdf, NULL},
    [POISE_FORMAT_MJCF] = {"mjcf", ".mjcf", pz_read_mjcf, NULL},
    [POISE_FORMAT_BVH] = {"bvh", ".bvh", pz_read_bvh, pz_write_bvh},
    [POISE_FORMAT_ASF] = {"asf", ".asf", pz_read_asf, pz_write_asf},
    [POISE_FORMAT_AMC] = {"amc", ".amc", pz_read_amc, pz_write_amc},
    [POISE_FORMAT_C3D] = {"c3d", ".c3d", pz_read_c3d, pz_write_c3d},
    [POISE_FORMAT_TRC] = {"trc", ".trc", pz_read_trc, pz_write_trc},
    [POISE_FORMAT_MOT] = {"mot", ".mot", pz_read_mot, pz_write_mot},
    [POISE_FORMAT_GLTF] = {"gltf", ".gltf", pz_read_gltf, pz_write_gltf},
    [POISE_FORMAT_GLB] = {"glb", ".glb", pz_read_gltf, pz_write_glb},
    [POISE_FORMAT_DH] = {"dh", ".csv", pz_read_dh, pz_write_dh},
    [POISE_FORMAT_JSON] = {"json", ".json", pz_read_json, pz_write_json},
    [POISE_FORMAT_OSIM] = {"osim", ".osim", pz_read_osim, NULL},
    [POISE_FORMAT_SRDF] = {"srdf", ".srdf", pz_read_srdf, NULL},
};

const pz_format_row *pz_format_row_of(poise_format format)
{
    return (unsigned)format < POISE_FORMAT_COUNT ? &rows[format] : NULL;
}

const char *poise_format_name(poise_format format)
{
    const pz_format_row *row = pz_format_row_of(format);
    return row ? row->name : rows[POISE_FORMAT_UNKNOWN].name;
}
