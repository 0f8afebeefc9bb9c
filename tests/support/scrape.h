// What /metrics says, taken apart.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace next_id::test {

struct MetricFamily {
    std::string type, help;
    std::set<std::string> labels;  // names, without le
};

struct Scrape {
    explicit Scrape(const std::string& text) {
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);) line.starts_with("# ") ? describe(line) : sample(line);
    }

    // Of a series as it is written: name{label="value",...}. Throws when there is none.
    double operator[](const std::string& series) const {
        const auto found = samples.find(series);
        if (found == samples.end()) throw std::runtime_error{"/metrics has no " + series};
        return found->second;
    }

    std::map<std::string, MetricFamily> families;
    std::map<std::string, double> samples;

 private:
    void describe(const std::string& line) {
        std::istringstream words{line.substr(2)};
        std::string what, name;
        words >> what >> name;
        std::getline(words >> std::ws, what == "TYPE" ? families[name].type : families[name].help);
    }
    void sample(const std::string& line) {
        const std::size_t value_at = line.rfind(' ');
        const std::string series = line.substr(0, value_at);
        samples[series] = std::stod(line.substr(value_at));
        MetricFamily& family = families[family_of(series.substr(0, series.find('{')))];
        for (std::size_t at = series.find('{'); at != std::string::npos && series[at] != '}';) {
            const std::string label = series.substr(at + 1, series.find("=\"", at) - at - 1);
            if (label != "le") family.labels.insert(label);
            do at = series.find('"', series.find('"', at) + 1) + 1;
            while (series[at - 2] == '\\');
        }
    }
    std::string family_of(const std::string& name) const {
        for (const std::string suffix : {"_bucket", "_sum", "_count"})
            if (name.ends_with(suffix) && families.contains(name.substr(0, name.size() - suffix.size())))
                return name.substr(0, name.size() - suffix.size());
        return name;
    }
};

}  // namespace next_id::test
