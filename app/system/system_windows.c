// Windows, by MinGW-w64.
#include "system.h"

#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG size); // RtlGenRandom of advapi32, which no header declares

// ---- The program ---------------------------------------------------------------------------------------------------------

void system_begin(void)
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
}

void system_ignore_closed_pipes(void)
{
    // as it is there
}

bool system_reader_is_gone(void)
{
    return GetFileType((HANDLE)_get_osfhandle(_fileno(stdout))) == FILE_TYPE_PIPE; // which fails for no other reason
}

bool system_program_path(char *path, size_t size)
{
    DWORD length = GetModuleFileNameA(NULL, path, (DWORD)size);
    for (char *c = path; length > 0 && length < size && *c; ++c) {
        *c = *c == '\\' ? '/' : *c;
    }
    return length > 0 && length < size;
}

// An argument as the C library of the other program takes it apart: in quotes, with a backslash before each quote and each
// backslash that stands before one.
static char *quoted(const char *word)
{
    char *text = malloc(2 * strlen(word) + 3), *out = text;
    if (!text) {
        return NULL;
    }
    *out++ = '"';
    for (size_t slashes = 0; *word; ++word) {
        slashes = *word == '\\' ? slashes + 1 : slashes;
        for (; *word == '"' && slashes > 0; --slashes) {
            *out++ = '\\';
        }
        if (*word == '"') {
            *out++ = '\\';
        }
        slashes = *word == '\\' ? slashes : 0;
        *out++ = *word;
    }
    for (const char *back = out; back[-1] == '\\';) { // those before the last quote
        *out++ = '\\';
        --back;
    }
    *out++ = '"';
    *out = '\0';
    return text;
}

void system_become(const char *path, char *const *words)
{
    size_t count = 0;
    while (words[count]) {
        count += 1;
    }
    char **safe = calloc(count + 1, sizeof *safe);
    for (size_t i = 0; safe && i < count; ++i) {
        safe[i] = quoted(words[i]);
    }
    intptr_t status = safe ? _spawnv(_P_WAIT, path, (const char *const *)safe) : -1;
    if (status >= 0) {
        exit((int)status);
    }
}

void system_show_address(const char *address)
{
    ShellExecuteA(NULL, "open", address, NULL, NULL, SW_SHOWNORMAL);
}

int system_processors(void)
{
    DWORD_PTR own, all;
    int count = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) {
        for (; own; own &= own - 1) {
            count += 1;
        }
    }
    return count < 1 ? 1 : count;
}

bool system_random(void *bytes, size_t size)
{
    return SystemFunction036(bytes, (ULONG)size);
}

static HANDLE console_of(FILE *stream)
{
    return (HANDLE)_get_osfhandle(_fileno(stream));
}

// One that understands control sequences, which Windows 10 has to be asked for.
bool system_is_terminal(FILE *stream)
{
    DWORD mode;
    return GetConsoleMode(console_of(stream), &mode) &&
           SetConsoleMode(console_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

int system_terminal_columns(FILE *stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    return GetConsoleScreenBufferInfo(console_of(stream), &info) ? info.srWindow.Right - info.srWindow.Left + 1 : 0;
}

// ---- Interrupts and time -------------------------------------------------------------------------------------------------

static void (*interrupt_handler)(int number);

// In a thread of its own.
static BOOL WINAPI on_console_event(DWORD event)
{
    interrupt_handler(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
    return TRUE;
}

void system_on_interrupt(void (*handler)(int number))
{
    if (!interrupt_handler) {
        SetConsoleCtrlHandler(on_console_event, TRUE);
    }
    interrupt_handler = handler;
}

void system_die_of(int number)
{
    _exit(128 + number);
}

int64_t system_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t system_thread_nanoseconds(void)
{
    return system_nanoseconds();
}

// In pieces of a tenth of a second at most, because nothing interrupts a sleep; the last millisecond is waited for awake.
void system_sleep_until(int64_t when, const volatile sig_atomic_t *stop)
{
    for (int64_t left; !*stop && (left = when - system_nanoseconds()) > 0;) {
        int64_t milliseconds = left / 1000000 - 1;
        Sleep(milliseconds < 0 ? 0 : milliseconds > 100 ? 100 : (DWORD)milliseconds);
    }
}

bool system_be_prompt(int priority)
{
    timeBeginPeriod(1);
    return priority < 1 || SetPriorityClass(GetCurrentProcess(), REALTIME_PRIORITY_CLASS);
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

bool system_is_separator(char c)
{
    return c == '/' || c == '\\';
}

bool system_is_absolute(const char *path)
{
    return system_is_separator(path[0]) || (path[0] && path[1] == ':');
}

path_kind system_path_kind(const char *path, bool follow)
{
    DWORD kind = GetFileAttributesA(path);
    if (kind == INVALID_FILE_ATTRIBUTES) {
        return PATH_MISSING;
    }
    if ((kind & FILE_ATTRIBUTE_REPARSE_POINT) && !follow) {
        return PATH_LINK;
    }
    return kind & FILE_ATTRIBUTE_DIRECTORY ? PATH_FOLDER : kind & FILE_ATTRIBUTE_DEVICE ? PATH_OTHER : PATH_FILE;
}

static bool file_facts(const char *path, BY_HANDLE_FILE_INFORMATION *facts)
{
    HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    bool known = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, facts);
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
    }
    return known;
}

bool system_same_file(const char *a, const char *b)
{
    BY_HANDLE_FILE_INFORMATION first, second;
    return file_facts(a, &first) && file_facts(b, &second) && first.dwVolumeSerialNumber == second.dwVolumeSerialNumber &&
           first.nFileIndexHigh == second.nFileIndexHigh && first.nFileIndexLow == second.nFileIndexLow;
}

// Links need rights that few users have; a file that replaces one is written beside it.
int system_read_link(const char *path, char *target, size_t size)
{
    (void)path, (void)target, (void)size;
    return -1;
}

int system_open(const char *path, bool write)
{
    return _open(path, (write ? _O_WRONLY : _O_RDONLY) | _O_BINARY | _O_NOINHERIT);
}

int system_open_temporary(char *path, volatile sig_atomic_t *made)
{
    char *letters = path + strlen(path) - 6;
    int descriptor = -1;
    errno = EEXIST;
    for (int i = 0; i < 100 && descriptor < 0 && errno == EEXIST; ++i) {
        unsigned char random[6];
        system_random(random, sizeof random);
        for (int k = 0; k < 6; ++k) {
            letters[k] = (char)('a' + random[k] % 26);
        }
        descriptor = _open(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    }
    *made = descriptor >= 0;
    return descriptor;
}

bool system_copy_rights(int descriptor, const char *path)
{
    (void)descriptor, (void)path; // those of the folder
    return true;
}

bool system_replace(const char *temporary, const char *path)
{
    bool works = MoveFileExA(temporary, path, MOVEFILE_REPLACE_EXISTING);
    errno = works ? errno : EACCES;
    return works;
}

bool system_make_folder(const char *path)
{
    return _mkdir(path) == 0;
}

bool system_flush(FILE *stream)
{
    return fflush(stream) == 0 && _commit(_fileno(stream)) == 0;
}

// A console is ready when any key was pressed; the read then waits for the end of the line.
bool system_input_is_ready(bool wait)
{
    HANDLE input = console_of(stdin);
    DWORD waiting = 0, kind = GetFileType(input);
    if (kind == FILE_TYPE_PIPE && !wait) {
        return !PeekNamedPipe(input, NULL, 0, NULL, &waiting, NULL) || waiting > 0;
    }
    return kind != FILE_TYPE_CHAR || WaitForSingleObject(input, wait ? INFINITE : 0) == WAIT_OBJECT_0;
}

// By way of a temporary file that never gets as far as the disk.
bool system_memory_open(memory_stream *memory)
{
    char folder[MAX_PATH], path[MAX_PATH];
    *memory = (memory_stream){0};
    if (GetTempPathA(sizeof folder, folder) == 0 || GetTempFileNameA(folder, "poi", 0, path) == 0) {
        return false;
    }
    memory->stream = fopen(path, "w+bTD");
    return memory->stream != NULL;
}

bool system_memory_close(memory_stream *memory)
{
    FILE *stream = memory->stream;
    long size = ferror(stream) == 0 && fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    memory->text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    memory->size = memory->text ? (size_t)size : 0;
    rewind(stream);
    bool whole = memory->text && fread(memory->text, 1, memory->size, stream) == memory->size;
    if (memory->text) {
        memory->text[memory->size] = '\0';
    }
    fclose(stream);
    return whole;
}
