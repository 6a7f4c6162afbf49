# What `poise reproduce` is made of, beside the experiments themselves.
set(reproduce_sources
    plot.c
    plot_axis.c
    plot_draw.c
    reproduce.c
    reproduce_erik.c
    reproduce_erik_figures.c
    reproduce_hessian.c
    reproduce_hessian_tables.c
    reproduce_pictures.c
    result_table.c
)
