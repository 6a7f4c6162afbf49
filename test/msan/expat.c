// Expat is not compiled with the memory sanitizer, which takes what it writes for never written: its memory counts as
// written from the start.
#include <expat.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>

XML_Parser __wrap_XML_ParserCreate(const XML_Char *encoding);

static void *written(void *memory, size_t size)
{
    if (memory) {
        __msan_unpoison(memory, size);
    }
    return memory;
}

static void *take(size_t size)
{
    return written(malloc(size), size);
}

static void *take_more(void *memory, size_t size)
{
    return written(realloc(memory, size), size);
}

XML_Parser __wrap_XML_ParserCreate(const XML_Char *encoding)
{
    static const XML_Memory_Handling_Suite memory = {take, take_more, free};
    return XML_ParserCreate_MM(encoding, &memory, NULL);
}
