#include "tests/simulation/scenario.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sidecar/refill/guard.h"
#include "tests/simulation/sidecar_model.h"

namespace next_id::simulation {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration faults_last = seconds{60};
constexpr Duration recovery_max =
    seconds{45};  // the longest back-off, keepalive and deadline of connecting, one after the other
constexpr int plain_caller = -1;

std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// In place: the file stays the same one.
void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// What may happen to the sequence.
enum class Course : std::uint8_t {
    onward,       // the server loses nothing, and other programs call nextval too
    lost_values,  // it goes back anywhere. What the server has lost, others may get again, and no sidecar can know:
                  // only one is asked to keep its own promise
    set_back,     // it is set back behind the marks of all sidecars, so that each can know
};

class Scenario {
 public:
    Scenario(std::uint64_t seed, const std::filesystem::path& dir, Planted planted, bool trace)
        : clockwork_{seed},
          dir_{dir},
          trace_{trace},
          course_{draw_course()},
          server_{clockwork_, draw_sequence(), clockwork_.chance(0.4), planted} {
        const std::uint64_t sidecars = course_ == Course::lost_values ? 1 : clockwork_.between(1, 3);
        const Refill::Settings settings = draw_settings();
        const std::uint64_t wait_min =
            settings.sequence.order == Order::strict ? 500 : 0;  // ms; less, and nobody could be served
        for (std::uint64_t i = 0; i < sidecars; ++i) {
            sidecars_.push_back(std::make_unique<SidecarModel>(
                clockwork_, server_,
                SidecarModel::Settings{dir_ / std::to_string(i), settings,
                                       milliseconds{clockwork_.between(wait_min, 2000)}, course_ != Course::onward},
                SidecarModel::Observer{[this, i](const Range& range) { given(range, static_cast<int>(i)); },
                                       [this](const std::string& what) { fault(what); }}));
            sidecars_.back()->start(boot_id());
        }
        constexpr const char* courses[] = {"onward", "values are lost", "set back behind all marks"};
        tell(courses[static_cast<int>(course_)]);
    }

    Outcome run() {
        for (const auto& sidecar : sidecars_) next_request(*sidecar);
        if (course_ == Course::onward) next_plain_call();
        next_event();
        clockwork_.run_until(clockwork_.now() + faults_last);
        recover();
        return {fault_, owners_.size(), server_.reservations()};
    }

 private:
    Course draw_course() {
        const double share = clockwork_.share();
        return share < 0.5 ? Course::onward : share < 0.75 ? Course::lost_values : Course::set_back;
    }

    SequenceDefinition draw_sequence() {
        constexpr std::int64_t increments[] = {1, 1, 1, 7, 100, 1000, -3};
        SequenceDefinition sequence;
        sequence.increment = increments[clockwork_.between(0, std::size(increments) - 1)];
        if (sequence.increment < 0) sequence = {INT64_MIN, -1, sequence.increment, -1};
        if (clockwork_.chance(0.1))
            sequence.start = sequence.increment > 0 ? std::int64_t{1} << 53 : -(std::int64_t{1} << 53);
        block_ = sequence.increment > 1 && clockwork_.chance(0.7);
        return sequence;
    }

    Refill::Settings draw_settings() {
        Refill::Settings settings;
        settings.sequence.policy.reserve = milliseconds{clockwork_.between(100, 5000)};
        settings.sequence.policy.window_min = clockwork_.between(1, 200);
        settings.sequence.policy.window_max = clockwork_.between(200, 5000);
        settings.sequence.mode = block_ ? Increment::block : Increment::step;
        if (clockwork_.chance(0.15)) settings.sequence.order = Order::strict;
        settings.idle_close = milliseconds{clockwork_.between(0, 5000)};
        return settings;
    }

    std::string boot_id() const { return "boot " + std::to_string(boots_); }

    void next_request(SidecarModel& sidecar) {
        clockwork_.after(clockwork_.wait_of_about(demand_seconds_), [this, &sidecar] {
            if (sidecar.running()) {
                sidecar.check_deadlines();
                sidecar.request(clockwork_.chance(0.1) ? clockwork_.between(1, 150) : clockwork_.between(1, 3));
            }
            next_request(sidecar);
        });
    }

    void next_plain_call() {
        clockwork_.after(clockwork_.wait_of_about(block_ ? 2 : 0.1), [this] {
            if (const auto value = server_.plain_nextval()) {
                const std::int64_t increment = server_.model().definition().increment;
                const Range owned =
                    block_ ? Range{std::max(*value - increment + 1, server_.model().definition().minimum), 1, 0}
                           : Range{*value, 1, 1};
                given({owned.first, 1, static_cast<std::uint64_t>(*value - owned.first) + 1}, plain_caller);
            }
            next_plain_call();
        });
    }

    void next_event() {
        clockwork_.after(clockwork_.wait_of_about(1.5), [this] {
            if (healing_) return;
            draw_event();
            next_event();
        });
    }

    void draw_event() {
        SidecarModel& sidecar = any_sidecar();
        switch (clockwork_.between(0, course_ == Course::onward ? 12 : 16)) {
            case 0:
            case 1:
                tell("PostgreSQL crashes");
                server_.crash(clockwork_.wait_of_about(2));
                return connections_fail();
            case 2:
                tell("failover to the synchronous standby");
                server_.fail_over();
                return connections_fail();
            case 3:
                return kill_and_start(sidecar);
            case 4:
                return reboot();
            case 5:
                tell("network cut");
                sidecar.network().cut = true;
                return clockwork_.after(clockwork_.wait_of_about(8), [&sidecar] { sidecar.network().cut = false; });
            case 6:
                sidecar.network().loss = clockwork_.chance(0.5) ? 0.5 : 0;
                return tell("some answers are lost");
            case 7:
                sidecar.network().seconds = clockwork_.chance(0.5) ? 0.3 : 0.0005;
                return tell("network slow or fast");
            case 8:
                tell("sequence locked");
                return server_.lock_sequence(clockwork_.wait_of_about(3));
            case 9:
                tell("disk slow or fast");
                return server_.slow_disk(clockwork_.chance(0.5) ? 1 : 0.002);
            case 10:
                tell("standby away or back");
                return server_.standby_away(clockwork_.chance(0.5));
            case 11:
                return alter_increment();
            case 12:
                demand_seconds_ = clockwork_.chance(0.2) ? 0.01 : 0.2;
                return tell("demand changes");
            case 13:
                if (course_ == Course::set_back) return set_value();
                tell("failover that loses data");
                server_.fail_over_to(clockwork_.share());
                return connections_fail();
            case 14:
            case 15:
                return set_value();
            default:
                return move_past_marks();
        }
    }

    SidecarModel& any_sidecar() { return *sidecars_[clockwork_.between(0, sidecars_.size() - 1)]; }

    void connections_fail() {
        for (const auto& sidecar : sidecars_) sidecar->server_failed();
    }

    void kill_and_start(SidecarModel& sidecar) {
        tell("a sidecar is killed");
        if (!sidecar.running()) return;
        sidecar.kill();
        clockwork_.after(clockwork_.wait_of_about(0.5), [this, &sidecar] { start(sidecar); });
    }

    // The machine goes down, and its files come back as they were some time before: as on a disk whose last writes were
    // lost, or from an image.
    void reboot() {
        if (course_ != Course::onward || !sidecars_.front()->running()) return;
        SidecarModel& sidecar = *sidecars_.front();
        const std::filesystem::path path = sidecar.window_path();
        if (snapshot_.empty()) {
            snapshot_ = read_bytes(path);
            return tell("a copy of a window is kept");
        }
        tell("the machine boots, with old files");
        for (const auto& one : sidecars_) one->kill();
        write_bytes(path, std::exchange(snapshot_, {}));
        ++boots_;
        for (const auto& one : sidecars_) start(*one);
    }

    void start(SidecarModel& sidecar) {
        if (!sidecar.running()) sidecar.start(boot_id());
    }

    void alter_increment() {
        const std::int64_t old = server_.model().definition().increment;
        if (old < 0) return;
        constexpr std::int64_t increments[] = {1, 10, 1000};
        server_.model().alter_increment(increments[clockwork_.between(0, 2)]);
        tell("ALTER SEQUENCE INCREMENT BY " + std::to_string(server_.model().definition().increment));
    }

    // An operator's mistake: near the beginning, near where the sequence has been, or near one of the marks. Not beside
    // statements that wait for the lock: their sidecars may have given them up, and their marks be of long ago.
    void set_value() {
        if (server_.locked()) return;
        PostgresModel& model = server_.model();
        const SequenceDefinition& sequence = model.definition();
        const SidecarModel& sidecar = any_sidecar();
        const std::int64_t places[] = {sequence.start, model.furthest().value_or(sequence.start),
                                       sidecar.running() ? sidecar.mark().last_value : sequence.start};
        const std::int64_t off = static_cast<std::int64_t>(clockwork_.between(0, 20)) - 10;
        const std::int64_t value =
            std::clamp(places[clockwork_.between(0, 2)] + off * sequence.increment, sequence.minimum, sequence.maximum);
        if (course_ == Course::set_back && !all_can_know(value)) return;
        tell("setval to " + std::to_string(value));
        model.set_value(value);
    }

    // Whoever may ask for values sees that this is behind its mark.
    bool all_can_know(std::int64_t value) {
        const std::int64_t increment = server_.model().definition().increment;
        return std::ranges::all_of(sidecars_, [&](const auto& sidecar) {
            if (!sidecar->running()) return false;
            const Mark mark = sidecar->mark();
            const bool stays_latched = mark.latched && !sidecar->told_to_resume(mark);
            return stays_latched || (mark.direction != 0 && is_beyond(mark.last_value, value, increment));
        });
    }

    // As sql/README.md says: past the furthest mark of all sidecars, and as sql/resume_past.sql does it, never back.
    void move_past_marks() {
        PostgresModel& model = server_.model();
        const std::int64_t increment = model.definition().increment;
        std::optional<std::int64_t> past;
        for (const auto& sidecar : sidecars_) {
            if (!sidecar->running() || sidecar->busy()) return;  // its mark is not known, or about to move
            const Mark mark = sidecar->mark();
            const std::int64_t its = furthest_of(mark, increment > 0 ? 1 : -1);
            if (mark.direction != 0 && (!past || is_beyond(its, *past, increment))) past = its;
        }
        if (!past) return;
        tell("an operator moves the sequence past " + std::to_string(*past));
        const auto last = model.last_value();
        if (!last || is_beyond(*past, *last, increment)) model.set_value(*past);
        model.comment("next-id: resume past " + std::to_string(*past));
    }

    // The faults end; every sidecar must serve again by itself (one that latched, after the operator's step).
    void recover() {
        tell("all is mended");
        healing_ = true;
        server_.heal();
        demand_seconds_ = 0.1;
        for (const auto& sidecar : sidecars_) {
            sidecar->network() = {};
            start(*sidecar);
        }
        // More than once: an answer that was under way may have moved a mark on.
        for (int second = 1; second <= 30; ++second)
            if (course_ != Course::onward) clockwork_.after(seconds{second}, [this] { move_past_marks(); });
        clockwork_.run_until(clockwork_.now() + recovery_max);
        for (const auto& sidecar : sidecars_) sidecar->take_tally();
        clockwork_.run_until(clockwork_.now() + seconds{5});
        for (const auto& sidecar : sidecars_) {
            sidecar->check_deadlines();
            if (sidecar->take_tally().served == 0)
                fault("a sidecar did not recover: " + sidecar->refill().problem() +
                      sidecar->refill().supply().trouble().error);
        }
    }

    void given(const Range& range, int to) {
        for (std::uint64_t k = 0; k < range.count; ++k) {
            const auto id = static_cast<std::int64_t>(static_cast<std::uint64_t>(range.first) +
                                                      k * static_cast<std::uint64_t>(range.step));
            const auto [owner, first] = owners_.emplace(id, to);
            if (!first)
                fault("ID " + std::to_string(id) + " was given out twice: " + who(owner->second) + " and " + who(to));
        }
    }

    static std::string who(int owner) {
        return owner == plain_caller ? "by plain nextval" : "by sidecar " + std::to_string(owner);
    }

    void fault(const std::string& what) {
        tell("FAULT: " + what);
        if (fault_.empty()) fault_ = what;
    }

    void tell(const std::string& what) const {
        if (trace_)
            std::printf("%9.3f s  %s\n",
                        std::chrono::duration<double>(clockwork_.now().time_since_epoch()).count() - 1000,
                        what.c_str());
    }

    Clockwork clockwork_;
    const std::filesystem::path dir_;
    const bool trace_;
    bool block_ = false;
    const Course course_;
    Server server_;
    std::vector<std::unique_ptr<SidecarModel>> sidecars_;
    std::unordered_map<std::int64_t, int> owners_;
    std::string fault_;
    double demand_seconds_ = 0.1;  // between two requests to one sidecar
    bool healing_ = false;
    std::uint64_t boots_ = 0;
    std::string snapshot_;
};

}  // namespace

Outcome run_scenario(std::uint64_t seed, const std::filesystem::path& dir, Planted planted, bool trace) {
    return Scenario{seed, dir, planted, trace}.run();
}

}  // namespace next_id::simulation
