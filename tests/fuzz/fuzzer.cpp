#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

// A promise that is broken is an exception that nobody catches: libFuzzer keeps the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    next_id::test::NEXT_ID_FUZZ_TARGET({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
