# The studio (web/studio): built into studio/ of the build folder, where the program poise looks for it, and tested in a browser
# through `poise view`. Like the package it is made from (cmake/web.cmake) it needs node and npm, and Chromium for its tests;
# what is missing skips the tests with a line that says so.
set(studio ${CMAKE_BINARY_DIR}/studio)
install(DIRECTORY ${studio}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/poise/studio OPTIONAL)

if(BUILD_TESTING AND POISE_BUILD_IO AND NOT POISE_SANITIZE AND NOT POISE_COVERAGE)
    add_test(NAME web_studio_build COMMAND ${PROJECT_SOURCE_DIR}/web/studio/build.sh ${studio})
    set_tests_properties(web_studio_build PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3000 LABELS web COST 400
        RESOURCE_LOCK "web;studio" FIXTURES_REQUIRED web FIXTURES_SETUP studio)
    # one test for each part that test/studio.mjs lists
    file(STRINGS ${PROJECT_SOURCE_DIR}/web/studio/test/studio.mjs parts REGEX "^const PARTS = ")
    string(REGEX MATCHALL "[a-z_]+" parts "${parts}")
    list(REMOVE_ITEM parts const)
    foreach(part ${parts})
        add_test(NAME web_studio_${part} COMMAND ${PROJECT_SOURCE_DIR}/web/studio/test.sh
            $<TARGET_FILE:poise> ${studio} ${CMAKE_BINARY_DIR}/studio-pictures ${part})
        set_tests_properties(web_studio_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3000 LABELS web COST 50
            FIXTURES_REQUIRED studio)
    endforeach()
    # what `poise help view` shows
    add_test(NAME app_examples_view COMMAND
        sh -c [[test -f "$0/index.html" || { echo "skipped: the studio is not built (make web)"; exit 77; }; exec "$@"]] ${studio}
        ${PROJECT_SOURCE_DIR}/tools/run_transcript.py --poise $<TARGET_FILE:poise> --examples view)
    set_tests_properties(app_examples_view PROPERTIES FIXTURES_REQUIRED studio SKIP_RETURN_CODE 77 TIMEOUT ${timeout} LABELS app)
endif()
