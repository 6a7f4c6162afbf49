#undef static
