# poise_papers: the methods of the literature.
include(cmake/beside.cmake)

poise_beside(papers
    src/base/arena.c
    src/base/text.c
    src/num/trig.c
    src/num/rotation.c
    src/num/dense.c
)
target_link_libraries(poise_papers_static PUBLIC poise_static)
target_link_libraries(poise_papers_shared PUBLIC poise_shared)
