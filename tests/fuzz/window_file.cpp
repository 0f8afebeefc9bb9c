// A file of any bytes in the window's place is adopted or refused; never does it give out an ID twice, or one that does
// not stand in it between cursor and limit. So that not all of it is refused at the first look, the input is written
// over a sound window: its first byte says which words, each a number of the header or of a slot and eight bytes; with
// the lowest bit of that byte set, the rest of the input is the file itself.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sidecar/window/window_mapping.h"
#include "tests/fuzz/targets.h"

namespace next_id::test {
namespace {

using Layout = Window<>;

constexpr std::uint64_t slot_count = 8;
const WindowOwner owner{"digest", "pod", "boot"};

struct WindowFiles {
    WindowFiles() {
        std::string pattern = "/dev/shm/next-id-fuzz-XXXXXX";
        promised(::mkdtemp(pattern.data()) != nullptr, "there is a tmpfs");
        directory = pattern;
        path = directory + "/ids.window";
    }
    ~WindowFiles() { std::filesystem::remove_all(directory); }
    WindowFiles(const WindowFiles&) = delete;

    std::vector<char> read() const {
        std::ifstream in{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    // In place: the file keeps its inode, which the header names.
    void write(std::string_view bytes) const { std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes; }

    std::string directory, path;
};

// The words of a file, as an oracle reads them: on its own, in 128 bits, without the window's code.
struct Words {
    std::vector<std::uint64_t> words;

    explicit Words(const std::vector<char>& bytes) : words(bytes.size() / 8) {
        if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 8);
    }
    std::uint64_t cursor() const { return words[128 / 8]; }
    std::uint64_t limit() const { return words[256 / 8]; }

    // What a window of these words may still give out, in its order: for each ticket from cursor to limit that names an
    // ID of its slot.
    std::vector<Range> left() const {
        std::vector<Range> ranges;
        for (std::uint64_t at = cursor(); at < limit(); at = (at | 0xffffff) + 1) {
            const std::uint64_t* const slot = &words[(sizeof(Layout::Header) + (at >> 24) % slot_count * 32) / 8];
            const std::uint64_t offset = at & 0xffffff;
            promised(offset < slot[2] && slot[2] <= Layout::slot_ids_max,
                     "the cursor of an adopted window names an ID");
            const auto step = static_cast<std::int64_t>(slot[1]);
            const __int128 first = __int128{static_cast<std::int64_t>(slot[0])} + __int128{step} * offset;
            const __int128 last = first + __int128{step} * (slot[2] - offset - 1);
            promised(step != 0 && first >= INT64_MIN && first <= INT64_MAX && last >= INT64_MIN && last <= INT64_MAX,
                     "the IDs of an adopted window are 64-bit integers");
            ranges.push_back({static_cast<std::int64_t>(first), step, slot[2] - offset});
        }
        return ranges;
    }
};

std::vector<Range> merged(const std::vector<Range>& ranges) {
    std::vector<Range> all;
    for (const Range& range : ranges) {
        if (!all.empty() && continues(all.back(), range))
            all.back().count += range.count;
        else
            all.push_back(range);
    }
    return all;
}

// Takes all there is, in requests whose sizes the input decides.
std::vector<Range> take_all(Layout& window, std::string_view sizes) {
    std::vector<Range> taken, room(slot_count);
    for (std::size_t i = 0; i < sizes.size() + 2 * slot_count; ++i) {
        const std::uint64_t n = i < sizes.size() ? 1 + static_cast<unsigned char>(sizes[i]) : UINT64_MAX;
        const Taken result = window.take(n, room, true);
        if (result.result == TakeResult::dry) return taken;
        promised(result.result == TakeResult::taken && result.count <= n, "there are IDs, or there are none");
        taken.insert(taken.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.ranges));
    }
    promised(false, "a window comes to its end");
    return taken;
}

std::string damaged(const std::vector<char>& sound, std::string_view bytes) {
    if (bytes.front() & 1) return std::string{bytes.substr(1)};
    std::string file(sound.begin(), sound.end());
    // The words that decide: magic, version, slots; cursor, limit, wake_at; identity, mark, latch; then the slots.
    constexpr std::size_t offsets[] = {0, 8, 16, 128, 256, 264, 656, 664, 672, 680, 688, 696, 704};
    for (bytes.remove_prefix(1); bytes.size() >= 9; bytes.remove_prefix(9)) {
        const auto number = static_cast<unsigned char>(bytes.front());
        const std::size_t at = number < std::size(offsets)
                                   ? offsets[number]
                                   : sizeof(Layout::Header) + (number - std::size(offsets)) % (slot_count * 4) * 8;
        file.replace(at, 8, bytes.substr(1, 8));
    }
    return file;
}

}  // namespace

void fuzz_window_file(std::string_view bytes) {
    static const WindowFiles files;
    if (bytes.empty()) return;
    {
        auto made = WindowMapping::create(files.path, slot_count, {owner, {7, 5, 16400}, {1, 1, 100, 100}});
        promised(made.has_value(), "there is a window");
        for (const Range& range : {Range{1, 1, 10}, Range{20, 5, 4}, Range{90, -1, 3}})
            (*made)->window().publish(range);
    }
    files.write(damaged(files.read(), bytes));
    const std::vector<char> before = files.read();

    auto found = WindowMapping::adopt(files.path, slot_count, owner);
    promised(found.has_value() && found->existed, "nobody else publishes into it");
    promised(found->mark.direction == 0 || found->mark.lowest <= found->mark.highest, "a mark that is kept is sound");
    if (!found->window) {
        promised(!found->reason.empty(), "a refusal says why");
        const Words after{files.read()};
        const bool is_window = before.size() >= sizeof(Layout::Header) && after.words[0] == Layout::magic;
        promised(!is_window || after.cursor() == Layout::retired, "a window that is refused is closed");
        return;
    }
    promised(before.size() == Layout::size_of_file(slot_count), "an adopted window has its size");
    Layout& window = found->window->window();
    const std::vector<Range> left = Words{before}.left();
    std::uint64_t count = 0;
    for (const Range& range : left) count += range.count;
    promised(window.left() == count, "an adopted window knows how many IDs it has");
    if (window.wake_when_left(5)) promised(count <= 5, "a wake is due only when few are left");
    promised(merged(take_all(window, bytes)) == merged(left), "an adopted window gives what stands in it, once");
    const std::uint64_t published = window.publish({1000, 1, 7});
    promised(published == 7 || window.out_of_tickets(), "and goes on to be filled");
    promised(take_all(window, {}) == (published == 0 ? std::vector<Range>{} : std::vector<Range>{{1000, 1, 7}}),
             "and taken from");
    window.close([](const Range&) {});
}

}  // namespace next_id::test
