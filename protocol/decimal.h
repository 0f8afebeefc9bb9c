// Whole numbers in decimal, by RapidJSON, whose writer takes half as many instructions as std::to_chars. For the files
// here that write IDs.
#pragma once

#include <rapidjson/internal/itoa.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace next_id {

inline constexpr std::size_t int64_digits_max =
    std::numeric_limits<std::int64_t>::digits10 + 2;  // -9223372036854775808

// To `out`, where there is room for int64_digits_max; no zero at the end. Returns where the digits end.
inline char* write_decimal(char* out, std::int64_t number) {
    return rapidjson::internal::i64toa(number, out);
}

}  // namespace next_id
