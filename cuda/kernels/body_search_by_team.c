// body_search_on_host.c for the threads of a team.
#define BODY_TEAM
#include "body_search_on_host.c"
