#include "sidecar/metrics/exposition.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace next_id {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

double seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

ClientMetric labelled(const Exposition::Labels& labels) {
    ClientMetric metric;
    for (const auto& [name, value] : labels) metric.label.push_back({name, value});
    return metric;
}

}  // namespace

Exposition::Exposition() = default;
Exposition::~Exposition() = default;

void Exposition::counter(std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), MetricType::Counter, {}});
}

void Exposition::gauge(std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), MetricType::Gauge, {}});
}

void Exposition::histogram(std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), MetricType::Histogram, {}});
}

void Exposition::add(const Labels& labels, double value) {
    ClientMetric metric = labelled(labels);
    (families_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    families_.back().metric.push_back(std::move(metric));
}

void Exposition::add(const Labels& labels, const Histogram::Reading& reading) {
    ClientMetric metric = labelled(labels);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < Histogram::bounds.size(); ++i) {
        count += reading.counts[i];
        metric.histogram.bucket.push_back({count, seconds(Histogram::bounds[i])});
    }
    metric.histogram.sample_count = reading.count();
    metric.histogram.sample_sum = seconds(std::chrono::nanoseconds{reading.nanoseconds});
    families_.back().metric.push_back(std::move(metric));
}

std::string Exposition::text() const {
    std::vector<prometheus::MetricFamily> told = families_;
    std::erase_if(told, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
    return prometheus::TextSerializer{}.Serialize(told);
}

double outward(std::int64_t id) {
    constexpr std::uint64_t most = 1'000'000'000'000'000;  // up to so many digits, the text and the double are exact
    std::uint64_t unit = 1;
    const std::uint64_t size = id < 0 ? 0 - static_cast<std::uint64_t>(id) : static_cast<std::uint64_t>(id);
    while (size / unit >= most) unit *= 10;
    std::uint64_t rounded = (size / unit + (size % unit != 0)) * unit;
    if (static_cast<std::uint64_t>(static_cast<double>(rounded)) < size) rounded += unit;
    return id < 0 ? -static_cast<double>(rounded) : static_cast<double>(rounded);
}

}  // namespace next_id
