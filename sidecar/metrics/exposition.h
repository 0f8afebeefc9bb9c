// Values -> the text that Prometheus reads: family by family, sample by sample. The only place that knows
// prometheus-cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sidecar/metrics/histogram.h"

namespace prometheus {
struct MetricFamily;
}

namespace next_id {

class Exposition {
 public:
    using Labels = std::vector<std::pair<std::string, std::string>>;  // name, value

    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

    Exposition();
    ~Exposition();
    Exposition(const Exposition&) = delete;
    Exposition& operator=(const Exposition&) = delete;

    // Begins a family: the samples that are added next are of it. One without samples is left out.
    void counter(std::string name, std::string help);
    void gauge(std::string name, std::string help);
    void histogram(std::string name, std::string help);

    void add(const Labels& labels, double value);
    void add(const Labels& labels, std::uint64_t value) { add(labels, static_cast<double>(value)); }
    void add(const Labels& labels, const Histogram::Reading& reading);  // of a histogram

    std::string text() const;

 private:
    std::vector<prometheus::MetricFamily> families_;
};

// The ID, or a little more (less, below zero): Prometheus keeps doubles, and the text has 16 digits, so from 16 digits
// on an ID cannot be told exactly. Never told nearer to zero than it is, and at most 20,000 beyond.
double outward(std::int64_t id);

}  // namespace next_id
