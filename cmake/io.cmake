# poise_io: files. A library beside the core and, like it, without dependencies.

# The private parts of the core that io uses. libpoise.so keeps them to itself, so libpoise_io.so has its own copy, hidden as
# well; the static library takes them from libpoise.a.
set(poise_io_base_sources
    src/base/arena.c
    src/base/error.c
    src/base/text.c
)

foreach(objects poise_io_objects poise_io_base_objects)
    add_library(${objects} OBJECT)
    target_link_libraries(${objects} PRIVATE poise_flags poise_harden)
    target_include_directories(${objects} PRIVATE include src ${PROJECT_SOURCE_DIR})
    target_compile_options(${objects} PRIVATE ${POISE_CALLS_OWN})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
target_sources(poise_io_objects PRIVATE ${poise_io_sources})
target_sources(poise_io_base_objects PRIVATE ${poise_io_base_sources})

add_library(poise_io_static STATIC $<TARGET_OBJECTS:poise_io_objects>)
add_library(poise_io_shared SHARED $<TARGET_OBJECTS:poise_io_objects> $<TARGET_OBJECTS:poise_io_base_objects>)
add_library(Poise::poise_io ALIAS poise_io_static)
add_library(Poise::poise_io_shared ALIAS poise_io_shared)
set_target_properties(poise_io_static PROPERTIES EXPORT_NAME poise_io)
set_target_properties(poise_io_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(poise_io_static PUBLIC poise_motion_static)
target_link_libraries(poise_io_shared PUBLIC poise_motion_shared)
# a program that asks for io alone finds motion beside it
if(NOT APPLE AND NOT WIN32)
    set_target_properties(poise_io_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
foreach(library poise_io_static poise_io_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME poise_io LINKER_LANGUAGE C)
endforeach()
target_link_options(poise_io_shared PRIVATE $<TARGET_PROPERTY:poise_harden,INTERFACE_LINK_OPTIONS>)
