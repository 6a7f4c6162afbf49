// Small documents of our own, one of each format, with all that the format can say. They are cut at every byte, so they are
// short.
#ifndef TEST_DOCUMENTS_H
#define TEST_DOCUMENTS_H

extern const char document_urdf[];
extern const char document_mjcf[];
extern const char document_osim[], document_osim_old[];
extern const char document_bvh[];
extern const char document_asf[];
extern const char document_amc[]; // moves the skeleton of document_asf
extern const char document_trc[];
extern const char document_mot[]; // moves the model of document_mot_model, in test_readers.c and test_io_mot.c
extern const char document_dh[];
extern const char document_json[];
extern const char document_srdf[]; // about the model of document_json

#endif
