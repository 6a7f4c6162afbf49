# poise_io: files.
include(cmake/beside.cmake)

poise_beside(io
    src/base/arena.c
    src/base/text.c
)
target_link_libraries(poise_io_static PUBLIC poise_motion_static)
target_link_libraries(poise_io_shared PUBLIC poise_motion_shared)
# a program that asks for io alone finds motion beside it
if(NOT APPLE AND NOT WIN32)
    set_target_properties(poise_io_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
