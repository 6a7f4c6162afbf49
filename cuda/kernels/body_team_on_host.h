// Teams of the host: BODY_LANES threads work on one problem as threads of a warp do (body/body_team.h).
#ifndef POISE_CUDA_BODY_TEAM_ON_HOST_H
#define POISE_CUDA_BODY_TEAM_ON_HOST_H

// All threads of a team call work(user), and meet in it.
void body_team_run(int lanes, void (*work)(void *user), void *user);

int body_lane(void);
void body_meet(void);
int body_count(int own);

#endif
