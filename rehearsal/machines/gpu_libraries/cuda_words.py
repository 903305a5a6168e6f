"""The CUDA runtime's names of its errors, as far as a GPU, its driver or a program that measures can be their reason.

Recorded of version 12.9.79 (tests/field_recordings/ranks.yaml).
"""

WORDS = {
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    34: "CUDA driver is a stub library",
    35: "CUDA driver version is insufficient for CUDA runtime version",
    36: "API call is not supported in the installed CUDA driver",
    46: "CUDA-capable device(s) is/are busy or unavailable",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    200: "device kernel image is invalid",
    209: "no kernel image is available for execution on the device",
    214: "uncorrectable ECC error encountered",
    220: "uncorrectable NVLink error detected during the execution",
    222: "the provided PTX was compiled with an unsupported toolchain.",
    226: "Invalid access of peer GPU memory over nvlink or a hardware error",
    304: "OS call failed or operation not supported on this OS",
    700: "an illegal memory access was encountered",
    702: "the launch timed out and was terminated",
    710: "device-side assert triggered",
    714: "hardware stack error",
    715: "an illegal instruction was encountered",
    716: "misaligned address",
    718: "invalid program counter",
    719: "unspecified launch failure",
    801: "operation not supported",
    802: "system not yet initialized",
    803: "system has unsupported display driver / cuda driver combination",
    804: "forward compatibility was attempted on non supported HW",
    999: "unknown error",
}
"""By the number of cudaError_t."""
