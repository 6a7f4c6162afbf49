# A Debian package by CPack (make package): tool, manual pages, completions, studio, libraries and headers in one.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME poise)
set(CPACK_PACKAGE_VENDOR "Poise")
# who packages answers for the package: DEBFULLNAME and DEBEMAIL, as Debian's own tools have it, or the last author
if(DEFINED ENV{DEBEMAIL})
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
    execute_process(COMMAND git -c safe.directory=* log -1 "--format=%an <%ae>" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE CPACK_PACKAGE_CONTACT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE has_no_git)
    if(has_no_git OR NOT CPACK_PACKAGE_CONTACT)
        set(CPACK_PACKAGE_CONTACT "Poise contributors <poise@localhost>")
    endif()
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "inverse kinematics with exact second derivatives")
# without the studio, cmake/package_parts.cmake says so when the package is made
set(CPACK_PACKAGE_DESCRIPTION "From a skeleton and goals for its bodies to joint angles, within limits,
in microseconds: a tool, a C library and a browser studio, for robots,
characters and motion capture.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING) # what runs here cannot look into the libraries of another system
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.35)") # tools/check_bare.sh release compares
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
# what Debian wants in every package: licence, changelog, compressed manual pages (cmake/debian.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_POISE_SOURCE ${PROJECT_SOURCE_DIR})
# which package a program needs that links the libraries, and what the system does after it came or went
set(debian ${PROJECT_BINARY_DIR}/debian)
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(WRITE ${debian}/shlibs "libpoise ${soversion} poise (>= ${PROJECT_VERSION})\nlibpoise_motion ${soversion} poise (>= ${PROJECT_VERSION})\nlibpoise_papers ${soversion} poise (>= ${PROJECT_VERSION})\nlibpoise_io ${soversion} poise (>= ${PROJECT_VERSION})\n")
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/shlibs ${debian}/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_parts.cmake)
set(CPACK_POISE_STUDIO ${PROJECT_BINARY_DIR}/studio)
set(CPACK_CMAKE_GENERATOR Ninja) # of Makefiles CPack would build everything first, tests included
include(CPack)
