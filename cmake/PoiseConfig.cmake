# Gives Poise::poise (static) and Poise::poise_shared; where poise_io was installed, Poise::poise_io and
# Poise::poise_io_shared; where poise_cuda was installed and CUDA's runtime is found, Poise::poise_cuda. Ask for these with find_package(Poise COMPONENTS io cuda).
include(${CMAKE_CURRENT_LIST_DIR}/PoiseTargets.cmake)

set(Poise_io_FOUND FALSE)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/PoiseIoTargets.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/PoiseIoTargets.cmake)
    set(Poise_io_FOUND TRUE)
endif()
set(Poise_cuda_FOUND FALSE)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/PoiseCudaTargets.cmake)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cudart_static)
        include(${CMAKE_CURRENT_LIST_DIR}/PoiseCudaTargets.cmake)
        set(Poise_cuda_FOUND TRUE)
    endif()
endif()
foreach(component ${Poise_FIND_COMPONENTS})
    if(Poise_FIND_REQUIRED_${component} AND NOT Poise_${component}_FOUND)
        set(Poise_FOUND FALSE)
        set(Poise_NOT_FOUND_MESSAGE
            "no component ${component}: was it installed? cuda needs the CUDA toolkit")
    endif()
endforeach()
