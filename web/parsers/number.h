// What the parser of JSON asks of its surroundings.
#ifndef WEB_PARSERS_NUMBER_H
#define WEB_PARSERS_NUMBER_H

// The double nearest to the decimal number in [text, end), which is one by the grammar of JSON; an infinity where it is too
// large. In the browser this is Number() (libc/number.c).
double web_number(const char *text, const char *end);

#endif
