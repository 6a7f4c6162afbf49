// report.html, word by word and ended by a zero; made by cmake/embed.cmake when the program is built.
#ifndef APP_TRACK_PAGE_TEXT_H
#define APP_TRACK_PAGE_TEXT_H

extern const unsigned char track_page_text[];

#endif
