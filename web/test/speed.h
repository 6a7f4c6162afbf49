// See speed.c.
#ifndef WEB_TEST_SPEED_H
#define WEB_TEST_SPEED_H

#ifdef __wasm__
#define SPEED_EXPORT(name) __attribute__((export_name(#name)))
#else
#define SPEED_EXPORT(name)
#endif

SPEED_EXPORT(prepare) int speed_prepare(void); // 0: ready
SPEED_EXPORT(run) double speed_run(int rounds);
SPEED_EXPORT(frames) int speed_frames(void);

#endif
