#define _POSIX_C_SOURCE 200809L // barriers
#include "body_on_host.h"

#include <pthread.h>

#define MOST_LANES 32

// what body/body_state.h asks of those who work in teams
int body_lane(void);
void body_sync(void);
int body_team_sum(int own);

static pthread_barrier_t barrier;
static int counts[MOST_LANES], lane_count;
static _Thread_local int lane;

typedef struct member {
    pthread_t thread;
    int lane;
    void (*work)(void *user);
    void *user;
} member;

static void *begin(void *user)
{
    member *m = user;
    lane = m->lane;
    m->work(m->user);
    return NULL;
}

void body_team_run(int lanes, void (*work)(void *user), void *user)
{
    member members[MOST_LANES];
    lane_count = lanes;
    pthread_barrier_init(&barrier, NULL, (unsigned)lanes);
    for (int i = 0; i < lanes; ++i) {
        members[i] = (member){.lane = i, .work = work, .user = user};
        pthread_create(&members[i].thread, NULL, begin, &members[i]);
    }
    for (int i = 0; i < lanes; ++i) {
        pthread_join(members[i].thread, NULL);
    }
    pthread_barrier_destroy(&barrier);
}

int body_lane(void)
{
    return lane;
}

void body_sync(void)
{
    pthread_barrier_wait(&barrier);
}

int body_team_sum(int own)
{
    int sum = 0;
    counts[lane] = own;
    body_sync();
    for (int i = 0; i < lane_count; ++i) {
        sum += counts[i];
    }
    body_sync();
    return sum;
}
