// What tests of the window file need: folders of their own on a tmpfs and on a disk, a client that maps a window by its
// name, and short ways to open and to take.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sidecar/window/window_file.h"
#include "tests/support/temp_dir.h"

namespace next_id {

// Empty on a tmpfs.
inline std::string file_system_of(const TempDir& dir) {
    const FileDescriptor opened{::open(dir.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return file_system_that_keeps(opened.get());
}

// Another process, as far as the window can tell: it maps the file by its name, and keeps that mapping.
class MappedWindow {
 public:
    explicit MappedWindow(const std::filesystem::path& file) : size_{std::filesystem::file_size(file)} {
        const FileDescriptor opened{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
        bytes_ = static_cast<std::byte*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0));
        BOOST_TEST_REQUIRE(static_cast<void*>(bytes_) != MAP_FAILED);
        window_ = Window<>::in({bytes_, size_});
    }
    ~MappedWindow() { ::munmap(bytes_, size_); }
    MappedWindow(const MappedWindow&) = delete;

    Window<>::Header& header() { return *reinterpret_cast<Window<>::Header*>(bytes_); }
    Window<>::Slot& slot(std::size_t n) {
        return reinterpret_cast<Window<>::Slot*>(bytes_ + sizeof(Window<>::Header))[n];
    }
    TakeResult take() {
        Range out;
        return window_.value().take(1, {&out, 1}).result;
    }
    bool closed() { return header().cursor == Window<>::retired; }

 private:
    std::size_t size_;
    std::byte* bytes_;
    std::optional<Window<>> window_;
};

struct WindowFixture {
    TempDir temp{"/dev/shm"};

    WindowFile::Options options(const std::string& sequence = "app.ids") const {
        WindowFile::Options all;
        all.state_dir = temp.path / "state";
        all.sequence = sequence;
        all.source_digest = "digest";
        all.pod_uid = "pod";
        all.boot_id = "boot";
        all.slot_count = 8;
        return all;
    }
    std::filesystem::path window_path() const { return temp.path / "state" / "app.ids.window"; }
};

inline std::unique_ptr<WindowFile> open_window(const WindowFile::Options& options) {
    auto file = WindowFile::open(options);
    BOOST_TEST_REQUIRE(file.has_value(), (file ? "" : file.error()));
    return std::move(*file);
}

// Runs `work` in a child that ends there, whatever it throws, or with its parent; returns its process id.
template <class Work>
pid_t in_a_child(Work work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        work();
    } catch (...) {
        ::_exit(1);
    }
    ::_exit(0);
}

inline std::string error_of(const WindowFile::Options& options) {
    auto file = WindowFile::open(options);
    BOOST_TEST_REQUIRE(!file.has_value());
    return file.error();
}

inline bool says(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return true;
    BOOST_TEST_MESSAGE("it says: " << text);
    return false;
}

inline std::vector<Range> take_up_to(WindowFile& file, std::uint64_t n) {
    std::vector<Range> out(64);
    out.resize(file.take(n, out, true).ranges);
    return out;
}

}  // namespace next_id
