# 64-bit ARM Linux by Debian's cross compiler; QEMU runs what it makes (Debian: gcc-aarch64-linux-gnu qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig) # libraries of this machine are no good
find_program(POISE_QEMU qemu-aarch64-static)
if(POISE_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${POISE_QEMU} -L /usr/aarch64-linux-gnu)
endif()
