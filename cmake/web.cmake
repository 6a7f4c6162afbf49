# The browser: poise.wasm, the npm package poise-ik and its tests (web/). What is built lies in web/dist, as npm wants it.
#
# All of it needs clang, lld, node and npm. Without them the tests are skipped and say what is missing.

# what the tests of the package hold its numbers against
add_executable(web_reference web/test/reference.c web/test/reference_motion.c web/test/reference_solve.c)
target_include_directories(web_reference PRIVATE web/test)
target_link_libraries(web_reference PRIVATE poise_flags poise_scenes poise_papers_static poise_io_static)

add_test(NAME web_build COMMAND ${PROJECT_SOURCE_DIR}/web/build.sh)
add_test(NAME web_package COMMAND ${PROJECT_SOURCE_DIR}/web/test.sh $<TARGET_FILE:web_reference>)
set_tests_properties(web_build web_package PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3000 LABELS web RESOURCE_LOCK web)
set_tests_properties(web_build PROPERTIES FIXTURES_SETUP web COST 500)
set_tests_properties(web_package PROPERTIES FIXTURES_REQUIRED web)
