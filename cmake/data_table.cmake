# tools/data.tsv as a C array for app/cli/data_files.c: ${data_table} is the source.
set(data_table ${CMAKE_CURRENT_BINARY_DIR}/data_table.c)
add_custom_command(OUTPUT ${data_table}
    COMMAND ${CMAKE_COMMAND} -DIN=${PROJECT_SOURCE_DIR}/tools/data.tsv -DOUT=${data_table} -DNAME=data_table
        -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/data.tsv ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
