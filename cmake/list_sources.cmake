# cmake -DLISTS="poise_sources poise_io_sources" -P list_sources.cmake: print the sources on these lists, a path from the root in
# each line, for scripts that run a compiler themselves.
set(root ${CMAKE_CURRENT_LIST_DIR}/..)
include(${root}/src/sources.cmake)
include(${root}/scenes/sources.cmake)
list(TRANSFORM scene_sources PREPEND scenes/)
separate_arguments(LISTS)
set(sources)
foreach(name ${LISTS})
    list(APPEND sources ${${name}})
endforeach()
list(JOIN sources "\n" lines)
execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${lines})
