// From here on `static` functions and tables are the device's (device.h).
#define static static __device__
