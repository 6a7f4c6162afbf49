# CPack reads this when it makes a package: the description names the studio only if it is in there.
if(NOT EXISTS ${CPACK_POISE_STUDIO}/index.html)
    string(REPLACE "a tool, a C library and a browser studio, for" "a tool and a C library, for" CPACK_PACKAGE_DESCRIPTION
        "${CPACK_PACKAGE_DESCRIPTION}")
endif()
