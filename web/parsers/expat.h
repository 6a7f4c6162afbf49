// What poise_io uses of expat, over a parser of our own: for builds where there is no expat.
//
// Same names, same meaning, same messages and places of errors, for a document that is parsed in one call. Text between
// elements is checked and dropped. Encodings: UTF-8, UTF-16 with a byte order mark, ISO-8859-1, US-ASCII.
#ifndef WEB_PARSERS_EXPAT_H
#define WEB_PARSERS_EXPAT_H

#include <stddef.h>

#define XMLCALL

typedef char XML_Char;
typedef unsigned long XML_Size;
typedef unsigned char XML_Bool;
#define XML_TRUE  ((XML_Bool)1)
#define XML_FALSE ((XML_Bool)0)

enum XML_Status { XML_STATUS_ERROR, XML_STATUS_OK };

enum XML_Error {
    XML_ERROR_NONE,
    XML_ERROR_NO_MEMORY,
    XML_ERROR_SYNTAX,
    XML_ERROR_NO_ELEMENTS,
    XML_ERROR_INVALID_TOKEN,
    XML_ERROR_UNCLOSED_TOKEN,
    XML_ERROR_PARTIAL_CHAR,
    XML_ERROR_TAG_MISMATCH,
    XML_ERROR_DUPLICATE_ATTRIBUTE,
    XML_ERROR_JUNK_AFTER_DOC_ELEMENT,
    XML_ERROR_UNDEFINED_ENTITY,
    XML_ERROR_BAD_CHAR_REF,
    XML_ERROR_MISPLACED_XML_PI,
    XML_ERROR_UNKNOWN_ENCODING,
    XML_ERROR_INCORRECT_ENCODING,
    XML_ERROR_UNCLOSED_CDATA_SECTION,
    XML_ERROR_XML_DECL,
    XML_ERROR_ABORTED
};

typedef struct XML_Memory_Handling_Suite {
    void *(*malloc_fcn)(size_t size);
    void *(*realloc_fcn)(void *memory, size_t size);
    void (*free_fcn)(void *memory);
} XML_Memory_Handling_Suite;

typedef struct XML_ParserStruct *XML_Parser;
typedef void(XMLCALL *XML_StartElementHandler)(void *user, const XML_Char *name, const XML_Char **attributes);
typedef void(XMLCALL *XML_EndElementHandler)(void *user, const XML_Char *name);
typedef void(XMLCALL *XML_StartDoctypeDeclHandler)(void *user, const XML_Char *name, const XML_Char *system_id,
                                                   const XML_Char *public_id, int has_internal_subset);

// `encoding` and `separator` must be NULL.
XML_Parser XML_ParserCreate_MM(const XML_Char *encoding, const XML_Memory_Handling_Suite *memory, const XML_Char *separator);
void XML_ParserFree(XML_Parser parser);
void XML_SetUserData(XML_Parser parser, void *user);
void XML_SetElementHandler(XML_Parser parser, XML_StartElementHandler start, XML_EndElementHandler end);

// A document type with declarations of its own must make its handler stop: they are not parsed.
void XML_SetStartDoctypeDeclHandler(XML_Parser parser, XML_StartDoctypeDeclHandler start);

// `is_final` must be XML_TRUE.
enum XML_Status XML_Parse(XML_Parser parser, const char *text, int size, int is_final);

// From inside a handler: XML_Parse returns, with XML_ERROR_ABORTED. `resumable` must be XML_FALSE.
enum XML_Status XML_StopParser(XML_Parser parser, XML_Bool resumable);

enum XML_Error XML_GetErrorCode(XML_Parser parser);
const char *XML_ErrorString(enum XML_Error code);

// Of the present event or the error: the line counts from 1, the column, in characters, from 0.
XML_Size XML_GetCurrentLineNumber(XML_Parser parser);
XML_Size XML_GetCurrentColumnNumber(XML_Parser parser);

#endif
