// What errors are called.
#include "expat.h"

const char *XML_ErrorString(enum XML_Error code)
{
    static const char *const texts[] = {
        "none",
        "out of memory",
        "syntax error",
        "no element found",
        "not well-formed (invalid token)",
        "unclosed token",
        "partial character",
        "mismatched tag",
        "duplicate attribute",
        "junk after document element",
        "undefined entity",
        "reference to invalid character number",
        "XML or text declaration not at start of entity",
        "unknown encoding",
        "encoding specified in XML declaration is incorrect",
        "unclosed CDATA section",
        "XML declaration not well-formed",
        "parsing aborted",
    };
    return texts[code];
}
