// From here on `static` functions and tables are the device's (device_sources.h).
#define static static __device__
