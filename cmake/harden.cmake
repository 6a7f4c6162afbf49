# Hardening of what meets bytes from strangers, in release builds: poise_io and the programs. The core gets the linker's part
# only: it sees numbers of sizes that were checked before, and its inner loops are the product
# (docs/decisions/0018-hardening.md). Sanitizers bring stronger checks of their own.
option(POISE_HARDEN "Stack protector, checked string functions, PIE, read-only relocations in release builds" ON)
add_library(poise_harden INTERFACE)         # libraries
add_library(poise_harden_program INTERFACE) # programs
set(POISE_PIE OFF)
if(POISE_HARDEN AND NOT POISE_SANITIZE AND NOT POISE_COVERAGE AND NOT MINGW) # there it takes a library more
    include(CheckCCompilerFlag)
    include(CheckLinkerFlag)
    include(CheckPIESupported)
    check_pie_supported()
    set(release $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
    set(CMAKE_REQUIRED_FLAGS -Werror) # what a compiler accepts and does not use, it warns of
    foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "POISE_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            target_compile_options(poise_harden INTERFACE $<$<AND:${release},$<COMPILE_LANGUAGE:C>>:${flag}>)
        endif()
    endforeach()
    unset(CMAKE_REQUIRED_FLAGS)
    foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
        string(MAKE_C_IDENTIFIER "POISE_HAS${flag}" has)
        check_linker_flag(C ${flag} ${has})
        if(${has})
            target_link_options(poise_harden INTERFACE $<${release}:${flag}>)
        endif()
    endforeach()
    # a distribution may define it already, with another value
    target_compile_options(poise_harden_program INTERFACE
        $<$<AND:${release},$<COMPILE_LANGUAGE:C>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
    target_link_libraries(poise_harden_program INTERFACE poise_harden)
    set(POISE_PIE ${CMAKE_C_LINK_PIE_SUPPORTED})
endif()
