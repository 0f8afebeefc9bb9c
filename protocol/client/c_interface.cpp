#include <next_id/id_pool.h>
#include <next_id/next_id.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string_view>

struct next_id_client {
    next_id::Client client;
};

struct next_id_pool {
    next_id::IdPool pool;
};

namespace {

using next_id::Error;
using next_id::ErrorCode;

static_assert(int(ErrorCode::invalid_argument) == NEXT_ID_INVALID_ARGUMENT &&
              int(ErrorCode::unreachable) == NEXT_ID_UNREACHABLE && int(ErrorCode::timed_out) == NEXT_ID_TIMED_OUT &&
              int(ErrorCode::no_ids) == NEXT_ID_NO_IDS &&
              int(ErrorCode::too_many_requests) == NEXT_ID_TOO_MANY_REQUESTS &&
              int(ErrorCode::not_allowed) == NEXT_ID_NOT_ALLOWED && int(ErrorCode::rejected) == NEXT_ID_REJECTED &&
              int(ErrorCode::not_understood) == NEXT_ID_NOT_UNDERSTOOD && int(ErrorCode::system) == NEXT_ID_SYSTEM);

// Small: what a library has in each thread comes out of the loader's little reserve when it is loaded late.
struct LastError {
    std::unique_ptr<char[]> buffer;  // from the first error on
    const char* text = "";
    std::int64_t retry_after_s = 0;
};
thread_local LastError last_error;

int fail(ErrorCode code, const char* text, std::int64_t retry_after_s = 0) noexcept {
    constexpr std::size_t text_bytes_max = 1023;
    LastError& last = last_error;
    last.retry_after_s = retry_after_s;
    if (!last.buffer) last.buffer.reset(new (std::nothrow) char[text_bytes_max + 1]);
    if (last.buffer) {
        const std::size_t size = std::min(std::strlen(text), text_bytes_max);
        std::memcpy(last.buffer.get(), text, size);
        last.buffer[size] = '\0';
    }
    last.text = last.buffer ? last.buffer.get() : "out of memory, even for saying what went wrong";
    return int(code);
}

// No exception crosses the interface.
template <class Work>
int guarded(Work work) noexcept {
    try {
        work();
        return NEXT_ID_OK;
    } catch (const Error& error) {
        return fail(error.code(), error.what(), error.retry_after().count());
    } catch (const std::exception& error) {
        return fail(ErrorCode::system, error.what());
    } catch (...) {
        return fail(ErrorCode::system, "an error without a name");
    }
}

[[noreturn]] void wrong(const std::string& what) {
    throw Error{ErrorCode::invalid_argument, what};
}

struct AllOptions {
    next_id::Options options;
    next_id::PoolOptions pool;
};

template <class T>
T number_in(std::string_view name, std::string_view value) {
    T number{};
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc{} || end != value.data() + value.size())
        wrong("the option " + std::string{name} + " is \"" + std::string{value} + "\", but takes a whole number");
    return number;
}

AllOptions read_options(const char* const* given, bool for_pool) {
    AllOptions all;
    for (; given != nullptr && *given != nullptr; ++given) {
        const std::string_view option{*given};
        const std::size_t equals = std::min(option.find('='), option.size());
        const std::string_view name = option.substr(0, equals);
        if (equals == option.size()) wrong("the option \"" + std::string{option} + "\" is not name=value");
        const std::string_view value = option.substr(equals + 1);
        if (name == "address")
            all.options.address = value;
        else if (name == "sequence")
            all.options.sequence = value;
        else if (name == "token")
            all.options.token = value;
        else if (name == "token_file")
            all.options.token_file = value;
        else if (name == "window")
            all.options.window = value;
        else if (name == "timeout_ms")
            all.options.timeout = std::chrono::milliseconds{number_in<std::int64_t>(name, value)};
        else if (name == "batch" && for_pool)
            all.pool.batch = number_in<std::size_t>(name, value);
        else
            wrong("there is no option \"" + std::string{name} + "\"; <next_id/next_id.h> says which there are");
    }
    return all;
}

void expect(const void* argument, const char* name) {
    if (argument == nullptr) wrong(std::string{"the argument "} + name + " is NULL");
}

}  // namespace

const char* next_id_error(void) {
    return last_error.text;
}

int64_t next_id_retry_after(void) {
    return last_error.retry_after_s;
}

int next_id_client_open(const char* const* options, next_id_client** client) {
    return guarded([&] {
        expect(client, "client");
        *client = nullptr;
        *client = new next_id_client{next_id::Client{read_options(options, false).options}};
    });
}

void next_id_client_close(next_id_client* client) {
    delete client;
}

int next_id_client_next(next_id_client* client, int64_t* id) {
    return guarded([&] {
        expect(client, "client");
        expect(id, "id");
        *id = client->client.next();
    });
}

int next_id_client_next_n(next_id_client* client, size_t n, int64_t* ids) {
    return guarded([&] {
        expect(client, "client");
        expect(ids, "ids");
        const std::vector<std::int64_t> taken = client->client.next(n);
        std::copy(taken.begin(), taken.end(), ids);
    });
}

int next_id_pool_open(const char* const* options, next_id_pool** pool) {
    return guarded([&] {
        expect(pool, "pool");
        *pool = nullptr;
        const AllOptions all = read_options(options, true);
        *pool = new next_id_pool{next_id::IdPool{all.options, all.pool}};
    });
}

void next_id_pool_close(next_id_pool* pool) {
    delete pool;
}

int next_id_pool_next(next_id_pool* pool, int64_t* id) {
    return guarded([&] {
        expect(pool, "pool");
        expect(id, "id");
        *id = pool->pool.next();
    });
}
