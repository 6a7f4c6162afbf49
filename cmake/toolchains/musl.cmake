# Static programs over musl, which run on any Linux of this processor (Debian: musl-tools).
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -nostdlib) # the C library is that of the program, musl or another
set(CMAKE_C_STANDARD_LIBRARIES_INIT -lgcc)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/musl/lib/pkgconfig) # libraries of this machine are no good
