// A value, or why there is none: a smaller std::expected (which GCC 12 lacks in C++20). For what can go wrong in
// operation; what cannot go wrong is asserted. Reading the side that is not there is a programmer's error.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "sidecar/base/require.h"

namespace next_id {

template <class E>
struct Unexpected {
    E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E = std::string>
class [[nodiscard]] Expected {
 public:
    Expected(T value) : content_{std::in_place_index<0>, std::move(value)} {}
    template <class F>
    Expected(Unexpected<F> unexpected) : content_{std::in_place_index<1>, std::move(unexpected.error)} {}

    bool has_value() const { return content_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& operator*() { return require(has_value()), *std::get_if<0>(&content_); }
    const T& operator*() const { return require(has_value()), *std::get_if<0>(&content_); }
    T* operator->() { return &**this; }
    const T* operator->() const { return &**this; }

    E& error() { return require(!has_value()), *std::get_if<1>(&content_); }
    const E& error() const { return require(!has_value()), *std::get_if<1>(&content_); }

 private:
    std::variant<T, E> content_;
};

struct Nothing {};  // Expected<Nothing>: done, or why not

}  // namespace next_id
