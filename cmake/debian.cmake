# What Debian wants in a package beside what is installed elsewhere: the licence as copyright, a changelog in its own format, ours
# as news, and manual pages, all but the licence compressed. CPack runs this over the folder that it packs.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(doc ${root}/share/doc/poise)
file(MAKE_DIRECTORY ${doc})
file(READ ${CPACK_POISE_SOURCE}/LICENSE licence)
file(WRITE ${doc}/copyright "Poise, inverse kinematics with exact second derivatives.\n\n${licence}")
file(COPY ${CPACK_POISE_SOURCE}/CHANGELOG.md DESTINATION ${doc})
file(RENAME ${doc}/CHANGELOG.md ${doc}/NEWS)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "poise (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}: NEWS.gz has what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(GLOB pages ${root}/share/man/man1/*.1)
foreach(file ${doc}/changelog ${doc}/NEWS ${pages})
    execute_process(COMMAND gzip -9 -n -f ${file} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "gzip: ${file} cannot be compressed")
    endif()
endforeach()
# the loader of the system finds libraries in /usr/lib by itself
file(GLOB libraries ${root}/lib/*/libpoise_io.so.*.*.* ${root}/lib/libpoise_io.so.*.*.*)
foreach(file ${libraries})
    if(NOT IS_SYMLINK ${file})
        file(RPATH_REMOVE FILE ${file})
    endif()
endforeach()
