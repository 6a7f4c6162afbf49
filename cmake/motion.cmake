# poise_motion: recordings, tracking, retargeting, editing, verdicts.
include(cmake/beside.cmake)

poise_beside(motion
    src/base/arena.c
    src/base/text.c
    src/num/trig.c
    src/num/rotation.c
    src/num/dense.c
)
target_link_libraries(poise_motion_static PUBLIC poise_static)
target_link_libraries(poise_motion_shared PUBLIC poise_shared)
