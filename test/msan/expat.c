// Expat is not compiled with the memory sanitizer, which takes what it writes for never written: its memory counts as
// written from the start.
#include <expat.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>

XML_Parser __real_XML_ParserCreate_MM(const XML_Char *encoding, const XML_Memory_Handling_Suite *memory,
                                      const XML_Char *separator);
XML_Parser __wrap_XML_ParserCreate_MM(const XML_Char *encoding, const XML_Memory_Handling_Suite *memory,
                                      const XML_Char *separator);

XML_Parser __wrap_XML_ParserCreate(const XML_Char *encoding);

static XML_Memory_Handling_Suite inner;

static void *written(void *memory, size_t size)
{
    if (memory) {
        __msan_unpoison(memory, size);
    }
    return memory;
}

static void *take(size_t size)
{
    return written(inner.malloc_fcn(size), size);
}

static void *take_more(void *memory, size_t size)
{
    return written(inner.realloc_fcn(memory, size), size);
}

XML_Parser __wrap_XML_ParserCreate_MM(const XML_Char *encoding, const XML_Memory_Handling_Suite *memory,
                                      const XML_Char *separator)
{
    inner = *memory;
    const XML_Memory_Handling_Suite outer = {take, take_more, memory->free_fcn};
    return __real_XML_ParserCreate_MM(encoding, &outer, separator);
}

XML_Parser __wrap_XML_ParserCreate(const XML_Char *encoding)
{
    static const XML_Memory_Handling_Suite plain = {malloc, realloc, free};
    return __wrap_XML_ParserCreate_MM(encoding, &plain, NULL);
}
