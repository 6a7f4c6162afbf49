# Gives Poise::poise (static) and Poise::poise_shared.
include(${CMAKE_CURRENT_LIST_DIR}/PoiseTargets.cmake)
