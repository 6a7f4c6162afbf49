// Characters, encodings and the declaration of XML.
#ifndef WEB_PARSERS_CHARACTERS_H
#define WEB_PARSERS_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool xml_is_space(char c);

// May a name begin with this byte, or hold it? All of the letters beyond ASCII may.
bool xml_starts_name(char c);
bool xml_is_in_name(char c);

// The value of a digit, or -1.
int xml_digit(char c, int base);

// May a document hold this character?
bool xml_is_allowed(uint32_t character);

// Bytes of the character of UTF-8 at [at, end); 0 when there is none that a document may hold.
size_t xml_character(const char *at, const char *end);

// Does the text end within a character?
bool xml_is_cut(const char *at, const char *end);

// Write a character as UTF-8; returns its bytes.
size_t xml_put(char *to, uint32_t character);

// What stands for one of the five entities of XML; 0 for any other name.
uint32_t xml_entity(const char *name, size_t length);

typedef enum xml_encoding {
    XML_ENCODING_NONE, // not declared
    XML_ENCODING_UTF8,
    XML_ENCODING_LATIN,
    XML_ENCODING_WIDE,         // UTF-16, low byte first
    XML_ENCODING_WIDE_SWAPPED, // high byte first
    XML_ENCODING_UNKNOWN
} xml_encoding;

// By the first bytes, and for texts of one byte per letter by the declaration.
xml_encoding xml_detect(const char *at, const char *end);

// To UTF-8; `to` has room for twice the size and 4. Returns the bytes written. What is not a character becomes a byte that
// is none in UTF-8 either.
size_t xml_convert(xml_encoding encoding, const char *from, size_t size, char *to);

typedef struct xml_declaration {
    xml_encoding encoding;
    const char *wrong; // place of what is wrong, or of the name of the encoding
} xml_declaration;

// Read <?xml version="1.0" encoding="..." standalone="..."?> at `at`. Returns the place behind it, NULL if it is malformed.
const char *xml_read_declaration(const char *at, const char *end, xml_declaration *declaration);

#endif
