# poise_motion: recordings, tracking, retargeting, editing, verdicts. A library beside the core and, like it, without
# dependencies.

# The private parts of the core that motion uses. libpoise.so keeps them to itself, so libpoise_motion.so has its own copy, hidden
# as well; the static library takes them from libpoise.a.
set(poise_motion_base_sources
    src/base/arena.c
    src/base/error.c
    src/base/text.c
    src/num/trig.c
    src/num/rotation.c
    src/num/dense.c
)

foreach(objects poise_motion_objects poise_motion_base_objects)
    add_library(${objects} OBJECT)
    target_link_libraries(${objects} PRIVATE poise_flags poise_harden)
    target_include_directories(${objects} PRIVATE include src ${PROJECT_SOURCE_DIR})
    target_compile_options(${objects} PRIVATE ${POISE_CALLS_OWN})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
target_sources(poise_motion_objects PRIVATE ${poise_motion_sources})
target_sources(poise_motion_base_objects PRIVATE ${poise_motion_base_sources})
target_compile_definitions(poise_motion_base_objects PRIVATE POISE_API=) # what libpoise.so exports stays its own

add_library(poise_motion_static STATIC $<TARGET_OBJECTS:poise_motion_objects>)
add_library(poise_motion_shared SHARED $<TARGET_OBJECTS:poise_motion_objects> $<TARGET_OBJECTS:poise_motion_base_objects>)
add_library(Poise::poise_motion ALIAS poise_motion_static)
add_library(Poise::poise_motion_shared ALIAS poise_motion_shared)
set_target_properties(poise_motion_static PROPERTIES EXPORT_NAME poise_motion)
set_target_properties(poise_motion_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(poise_motion_static PUBLIC poise_static)
target_link_libraries(poise_motion_shared PUBLIC poise_shared)
foreach(library poise_motion_static poise_motion_shared)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME poise_motion LINKER_LANGUAGE C)
endforeach()
target_link_options(poise_motion_shared PRIVATE $<TARGET_PROPERTY:poise_harden,INTERFACE_LINK_OPTIONS>)
