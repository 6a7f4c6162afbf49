# Headers, the libraries, a CMake package (find_package(Poise)) and pkg-config files (poise.pc, poise_motion.pc, poise_papers.pc,
# poise_io.pc). All of them find
# the rest relative to themselves, so an installed tree can be moved. What belongs to CUDA is added by cuda/.
include(CMakePackageConfigHelpers)

install(TARGETS poise_static poise_shared EXPORT PoiseTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}) # libraries of Windows
install(DIRECTORY include/poise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN io.h EXCLUDE PATTERN opensim.h EXCLUDE PATTERN cuda.h EXCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Poise)
install(EXPORT PoiseTargets NAMESPACE Poise:: DESTINATION ${package_dir})
write_basic_package_version_file(PoiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/PoiseConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/PoiseConfigVersion.cmake DESTINATION ${package_dir})

# the way from the folder of poise.pc up to the prefix
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(cmake/poise.pc.in poise.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/poise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS poise_motion_static poise_motion_shared EXPORT PoiseMotionTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT PoiseMotionTargets NAMESPACE Poise:: DESTINATION ${package_dir})
configure_file(cmake/poise_motion.pc.in poise_motion.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/poise_motion.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS poise_papers_static poise_papers_shared EXPORT PoisePapersTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT PoisePapersTargets NAMESPACE Poise:: DESTINATION ${package_dir})
configure_file(cmake/poise_papers.pc.in poise_papers.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/poise_papers.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(POISE_BUILD_IO)
    install(TARGETS poise_io_static poise_io_shared EXPORT PoiseIoTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES include/poise/io.h include/poise/opensim.h include/poise/poise.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/poise)
    install(EXPORT PoiseIoTargets NAMESPACE Poise:: DESTINATION ${package_dir})
    configure_file(cmake/poise_io.pc.in poise_io.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/poise_io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
