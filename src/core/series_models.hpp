// How Python hands models without hidden states to the core: processes and families by name, numbers in an array.
#pragma once

#include "fitting.hpp"

#include <cstring>
#include <stdexcept>

#include "wandering.hpp"

namespace normalhedge::python {

struct Text {
    const char* text;
    bool operator==(const char* other) const { return std::strcmp(text, other) == 0; }
};

template <>
struct From<Text> {
    static Text get(PyObject* object) {
        const char* text = PyUnicode_AsUTF8(object);
        if (!text) throw PythonError();
        return {text};
    }
};

// Counts and symbols that the core can take.
inline void check_values(const NormalGamma&, Sheet) {}
inline void check_values(const GammaPoisson&, Sheet seen) {
    for (size_t t = 0; t < seen.rows; ++t)
        require(!(seen.data[t] < 0.0), "counts must not be negative");
}
inline void check_values(const Dirichlet& model, Sheet seen) {
    for (size_t t = 0; t < seen.rows; ++t)
        require(seen.data[t] != seen.data[t] ||
                    (seen.data[t] >= 0.0 && seen.data[t] < static_cast<double>(model.symbols)),
                "an observation must be one of the symbols");
}

// Call a function with the model of a family; `width` counts columns, or symbols.
template <class Work>
auto with_model(Text family, std::int64_t width, const Work& work) {
    require(width > 0, sizes);
    const auto size = static_cast<size_t>(width);
    if (family == "categorical") return work(Dirichlet{size}, size_t{1});
    if (family == "negative_binomial") return work(GammaPoisson{}, size_t{1});
    require(family == "student" ? size == 1 : family == "diagonal" && size > 1,
            "the core does not know this family of series models");
    return work(NormalGamma{size}, size);
}

// The number of runs may come from a file, or from a model that has learned nothing yet.
inline void require_runs(const double* numbers) {
    require(numbers[1] >= 0.0 && numbers[1] <= static_cast<double>(runs_kept), "a model of breaks has too many runs");
}

// Call a function with a process on the numbers of a series model.
template <class Work>
auto with_process(Text kind, Text family, std::int64_t width, Sheet grid, double memory, Vector<double> numbers,
                  const Work& work) {
    require(grid.rows == 2 && grid.columns > 0, sizes);
    const Grid values{grid.row(0), grid.row(1), grid.columns, memory};
    return with_model(family, width, [&](const auto& model, size_t columns) {
        using Model = std::decay_t<decltype(model)>;
        if (kind == "breaks") {
            require(numbers.n == RunLengths<Model>::size(model, values), sizes);
            require_runs(numbers.data);
            return work(RunLengths<Model>(model, values, numbers.data), model, columns);
        }
        require(kind == "wandering", "the core does not know this kind of series model");
        require(numbers.n == Wandering<Model>::size(model, values), sizes);
        return work(Wandering<Model>(model, values, numbers.data), model, columns);
    });
}

// Learn a series; write the log density, and the mean and the variance of each column before it, of which the rounds
// are `stride` apart.
template <class Process, class Model>
void run_series(Process& process, const Model& model, size_t columns, Sheet seen, double* logs, double* means,
                double* variances, size_t log_stride, size_t stride) {
    check_values(model, seen);
    const size_t most = process.components();
    std::vector<double> shares(most), rows(most * model.rows());
    for (size_t t = 0; t < seen.rows; ++t) {
        const size_t count = process.ahead(1, {shares.data(), rows.data(), most});
        for (size_t c = 0; c < columns; ++c) {
            double mean = 0.0, square = 0.0;
            for (size_t i = 0; i < count; ++i) mean += shares[i] * model.moments(rows.data() + i, most, c).first;
            for (size_t i = 0; i < count; ++i) {
                const auto [centre, variance] = model.moments(rows.data() + i, most, c);
                square += shares[i] * (variance + (centre - mean) * (centre - mean));
            }
            means[t * stride + c] = mean;
            variances[t * stride + c] = square;
        }
        logs[t * log_stride] = process.observe(seen.row(t), columns);
        if (is_known(seen.row(t), columns)) process.remember(seen.row(t));
    }
}

}  // namespace normalhedge::python
