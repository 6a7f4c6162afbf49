// report.html, word by word and ended by a zero; made by cmake/embed.cmake when the program is built.
#ifndef APP_REPORT_PAGE_H
#define APP_REPORT_PAGE_H

extern const unsigned char report_page[];

#endif
