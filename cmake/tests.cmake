# Everything that CTest runs. A test that misses its data or a program exits with 77, which CTest reports as skipped; one that
# could not be built is left out here, with a line that says why.
enable_testing()
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
set(timeout 900) # seconds: far more than a test takes, on a machine that does much else
if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(timeout 3600) # QEMU takes more than ten times as long
elseif(POISE_SANITIZE)
    set(timeout 1200)
endif()

# poise_need(PREFIX module what package): find a library by pkg-config, as PkgConfig::PREFIX, or say what is left out without it
macro(poise_need prefix module what package)
    if(PkgConfig_FOUND)
        pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    endif()
    if(NOT ${prefix}_FOUND)
        message(STATUS "Left out: ${what} (needs ${module}; Debian: pkg-config ${package})")
    endif()
endmacro()

if(NOT Python3_FOUND)
    message(STATUS "Left out: the tests of the command and some checks (need Python; Debian: python3)")
endif()

add_subdirectory(test)
if(TARGET poise AND Python3_FOUND)
    add_subdirectory(test/app)
endif()
if(TARGET poise_python)
    add_subdirectory(python/test)
endif()
# a sample exits with a failure when it misses its goal
if(TARGET hello_ik)
    add_test(NAME sample_gradient_descent_2d COMMAND gradient_descent_2d)
    add_test(NAME sample_node_jacobian COMMAND node_jacobian)
    add_test(NAME sample_spinning_top COMMAND spinning_top)
    add_test(NAME sample_expressive_robot COMMAND expressive_robot)
    add_test(NAME sample_hello_ik COMMAND hello_ik)
    add_test(NAME sample_follow_pose COMMAND follow_pose)
    if(TARGET hello_cpp)
        add_test(NAME sample_hello_cpp COMMAND hello_cpp)
    endif()
    find_program(VALGRIND valgrind)
    if(VALGRIND AND NOT POISE_SANITIZE)
        add_test(NAME sample_under_valgrind COMMAND ${VALGRIND} -q --error-exitcode=9 $<TARGET_FILE:hello_ik>)
    endif()
endif()
set(tools ${PROJECT_SOURCE_DIR}/tools)

# poise_check(LABEL name command...)
function(poise_check label name)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout} LABELS ${label})
endfunction()

# ---- what was built: symbols, installation, package, the same bits from every compiler ------------------------------------

poise_check(structure golden_everywhere ${tools}/check_bits.sh ends)
set_tests_properties(golden_everywhere PROPERTIES TIMEOUT ${timeout} PROCESSORS 2 COST 90) # the longest first, while there is other work
if(NOT POISE_SANITIZE AND NOT POISE_COVERAGE) # those bring symbols, libraries and times of their own
    # every suite in a hurry; times do not matter there
    if(TARGET poise-bench AND Python3_FOUND)
        poise_check(bench bench ${Python3_EXECUTABLE} ${tools}/check_bench.py $<TARGET_FILE:poise-bench>)
        set_tests_properties(bench PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
    set(libraries_beside $<TARGET_FILE:poise_motion_shared> $<TARGET_FILE:poise_motion_static> $<TARGET_FILE:poise_papers_shared> $<TARGET_FILE:poise_papers_static>)
    if(POISE_BUILD_IO)
        list(APPEND libraries_beside $<TARGET_FILE:poise_io_shared> $<TARGET_FILE:poise_io_static>)
    endif()
    if(Python3_FOUND)
        poise_check(structure structure_symbols ${Python3_EXECUTABLE} ${tools}/check_structure.py symbols
            $<TARGET_FILE:poise_shared> $<TARGET_FILE:poise_static> ${libraries_beside})
    endif()
    set(installed ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${tools}/check_installed.sh)
    poise_check(structure structure_install ${installed} install ${PROJECT_BINARY_DIR})
    if(TARGET poise)
        poise_check(structure structure_package ${installed} package ${PROJECT_BINARY_DIR})
        poise_check(structure structure_uninstall ${installed} uninstall ${PROJECT_BINARY_DIR})
        poise_check(structure structure_first ${tools}/check_bare.sh first)
        if(POISE_HARDEN AND CMAKE_BUILD_TYPE STREQUAL "Release")
            poise_check(structure structure_hardening ${installed} hardening ${PROJECT_BINARY_DIR})
        endif()
        # one list of what is installed, and the studio is part of it: cmake/studio.cmake replaces that folder
        set_tests_properties(structure_install structure_package structure_uninstall PROPERTIES RESOURCE_LOCK "install_manifest;studio")
        set_tests_properties(structure_install PROPERTIES COST 60)
    endif()
endif()

# ---- the sources: make check ----------------------------------------------------------------------------------------------

if(Python3_FOUND)
    find_program(POISE_CLANG clang)
    mark_as_advanced(POISE_CLANG)
    if(NOT POISE_CLANG)
        set(POISE_CLANG "")
    endif()
    poise_check(check schema ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/schema/test_headers.py ${POISE_CLANG})
    poise_check(check structure_sources ${Python3_EXECUTABLE} ${tools}/check_structure.py)
    poise_check(check structure_walk ${Python3_EXECUTABLE} ${tools}/check_structure.py walk --build ${PROJECT_BINARY_DIR}/walk)
    poise_check(check structure_results ${Python3_EXECUTABLE} ${tools}/update_performance.py --check)
endif()
poise_check(check structure_format ${tools}/check_linters.sh format)
poise_check(check structure_reference ${tools}/check_linters.sh reference)
poise_check(check structure_cppcheck ${tools}/check_linters.sh cppcheck)
poise_check(check structure_tidy ${tools}/check_linters.sh tidy --fast ${PROJECT_BINARY_DIR})

if(POISE_BUILD_IO AND NOT POISE_SANITIZE AND NOT POISE_COVERAGE)
    include(cmake/web.cmake)
endif()
