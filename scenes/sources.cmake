# Skeletons, postures and motions; read by scenes/CMakeLists.txt and web/CMakeLists.txt.
set(scene_sources
    android.c
    erik_skeletons.c
    figure.c
    growing_trees.c
    hand.c
    humanoid.c
    humanoid_motions.c
    planar_skeletons.c
    random.c
    robots.c
    scenes.c
)
