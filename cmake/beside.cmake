# poise_beside(NAME BASE...): the libraries poise_NAME, static and shared, of poise_NAME_sources, beside the core and, like it,
# without dependencies. BASE: the private parts of the core that they use. libpoise.so keeps those to itself, so the shared library
# has its own copy, hidden as well; the static one takes them from libpoise.a. What they link is the caller's.
function(poise_beside name)
    set(library poise_${name})
    foreach(objects ${library}_objects ${library}_base_objects)
        add_library(${objects} OBJECT)
        target_link_libraries(${objects} PRIVATE poise_flags poise_harden)
        target_include_directories(${objects} PRIVATE include src ${PROJECT_SOURCE_DIR})
        target_compile_options(${objects} PRIVATE ${POISE_CALLS_OWN})
        set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endforeach()
    target_sources(${library}_objects PRIVATE ${${library}_sources})
    target_sources(${library}_base_objects PRIVATE ${ARGN})
    target_compile_definitions(${library}_base_objects PRIVATE POISE_API=) # what libpoise.so exports stays its own

    add_library(${library}_static STATIC $<TARGET_OBJECTS:${library}_objects>)
    add_library(${library}_shared SHARED $<TARGET_OBJECTS:${library}_objects> $<TARGET_OBJECTS:${library}_base_objects>)
    add_library(Poise::${library} ALIAS ${library}_static)
    add_library(Poise::${library}_shared ALIAS ${library}_shared)
    set_target_properties(${library}_static PROPERTIES EXPORT_NAME ${library})
    set_target_properties(${library}_shared PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set_target_properties(${library}_static ${library}_shared PROPERTIES OUTPUT_NAME ${library} LINKER_LANGUAGE C)
    target_link_options(${library}_shared PRIVATE $<TARGET_PROPERTY:poise_harden,INTERFACE_LINK_OPTIONS>)
endfunction()
