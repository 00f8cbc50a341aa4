// Functions of the module that predict a series by models without hidden states.
#include "python.hpp"

#include <cstring>
#include <stdexcept>

#include "novelty.hpp"
#include "objects.hpp"
#include "wandering.hpp"

namespace normalhedge::python {

using namespace latent;

namespace {

using Row = Vector<const double>;
using Sheet = Matrix<const double>;

constexpr const char* sizes = "the arrays of a series model must be of one size";

void require(bool fits, const char* words) {
    if (!fits) throw std::invalid_argument(words);
}

struct Text {
    const char* text;
    bool operator==(const char* other) const { return std::strcmp(text, other) == 0; }
};

}  // namespace

template <>
struct From<Text> {
    static Text get(PyObject* object) {
        const char* text = PyUnicode_AsUTF8(object);
        if (!text) throw PythonError();
        return {text};
    }
};

namespace {

// Counts and symbols that the core can take.
void check_values(const NormalGamma&, Sheet) {}
void check_values(const GammaPoisson&, Sheet seen) {
    for (size_t t = 0; t < seen.rows; ++t)
        require(!(seen.data[t] < 0.0), "counts must not be negative");
}
void check_values(const Dirichlet& model, Sheet seen) {
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
void require_runs(const double* numbers) {
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

std::int64_t series_size(Text kind, Text family, std::int64_t width, std::int64_t grid) {
    require(grid > 0, sizes);
    const Grid values{nullptr, nullptr, static_cast<size_t>(grid), 1.0};
    return with_model(family, width, [&](const auto& model, size_t) {
        using Model = std::decay_t<decltype(model)>;
        require(kind == "breaks" || kind == "wandering", "the core does not know this kind of series model");
        return static_cast<std::int64_t>(kind == "breaks" ? RunLengths<Model>::size(model, values)
                                                          : Wandering<Model>::size(model, values));
    });
}

void series_learn(Text kind, Text family, std::int64_t width, Sheet grid, double memory, Sheet seen,
                  Vector<double> numbers) {
    with_process(kind, family, width, grid, memory, numbers, [&](auto process, const auto& model, size_t columns) {
        require(seen.columns == columns, sizes);
        check_values(model, seen);
        size_t first = 0;
        while (first < seen.rows && !is_known(seen.row(first), columns)) ++first;
        process.begin(seen.data, seen.rows, columns, first);
        for (size_t t = first; t < seen.rows; ++t) process.observe(seen.row(t), columns);
    });
}

void series_run(Text kind, Text family, std::int64_t width, Sheet grid, double memory, Sheet seen,
                Vector<double> numbers, Vector<double> logs, Matrix<double> means, Matrix<double> variances) {
    with_process(kind, family, width, grid, memory, numbers, [&](auto process, const auto& model, size_t columns) {
        require(seen.columns == columns && logs.n == seen.rows && means.rows == seen.rows &&
                    variances.rows == seen.rows && means.columns == columns && variances.columns == columns,
                sizes);
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
                means.row(t)[c] = mean;
                variances.row(t)[c] = square;
            }
            logs[t] = process.observe(seen.row(t), columns);
            if (is_known(seen.row(t), columns)) process.remember(seen.row(t));
        }
    });
}

std::int64_t series_ahead(Text kind, Text family, std::int64_t width, Sheet grid, double memory, Row numbers,
                          std::int64_t rounds, Vector<double> shares, Matrix<double> rows) {
    const Vector<double> same{const_cast<double*>(numbers.data), numbers.n};  // `ahead` does not write to them
    return with_process(kind, family, width, grid, memory, same, [&](auto process, const auto& model, size_t) {
        require(rounds > 0 && shares.n == rows.columns && rows.rows == model.rows() &&
                    shares.n == process.components(),
                sizes);
        return static_cast<std::int64_t>(
            process.ahead(static_cast<size_t>(rounds), {shares.data, rows.data, rows.columns}));
    });
}

std::int64_t series_breaks(Text family, std::int64_t width, Sheet grid, Row numbers, Matrix<double> runs) {
    require(grid.rows == 2 && runs.rows == runs_kept && runs.columns == 3 + breaks_kept, sizes);
    const Grid hazards{grid.row(0), grid.row(1), grid.columns, 1.0};
    return with_model(family, width, [&](const auto& model, size_t) {
        using Model = std::decay_t<decltype(model)>;
        require(numbers.n == RunLengths<Model>::size(model, hazards), sizes);
        require_runs(numbers.data);
        RunLengths<Model> process(model, hazards, const_cast<double*>(numbers.data));  // it is only read
        return static_cast<std::int64_t>(process.write_runs(runs.data));
    });
}

std::int64_t novelty_size() { return Novelty::size; }

// Learn the places of observations of T x d, in d tests; write the novelty, from the mean of their odds, and where
// there was an alarm: where the mean of their R reached `patience`.
void novelty_run(Sheet places, double patience, Matrix<double> numbers, Vector<double> novelty,
                 Vector<double> alarms) {
    require(numbers.rows == places.columns && numbers.columns == Novelty::size && novelty.n == places.rows &&
                alarms.n == places.rows && places.columns > 0 && patience > 1.0,
            sizes);
    const auto columns = static_cast<double>(places.columns);
    for (size_t c = 0; c < places.columns; ++c)
        require(Novelty(numbers.row(c), 1.0 / patience).valid(), "the numbers of a test of novelty do not fit together");
    for (size_t t = 0; t < places.rows; ++t) {
        double odds = 0.0, sum = 0.0;
        for (size_t c = 0; c < places.columns; ++c) {
            const auto [share, total] = Novelty(numbers.row(c), 1.0 / patience).observe(places.row(t)[c]);
            odds += share / larger(1.0 - share, 1e-15) / columns;
            sum += total / columns;
        }
        novelty[t] = odds / (1.0 + odds);
        alarms[t] = sum >= patience ? 1.0 : 0.0;
        if (sum >= patience)
            for (size_t c = 0; c < places.columns; ++c) Novelty(numbers.row(c), 1.0 / patience).restart();
    }
}

PyMethodDef functions[] = {
    bind<novelty_size>("novelty_size", "Return how many numbers a test of novelty has."),
    bind<novelty_run>("novelty_run", "Learn the places of observations; write novelty and alarms."),
    bind<series_ahead>("series_ahead", "Write a distribution as shares and rows of parameters; return their number."),
    bind<series_breaks>("series_breaks", "Write the runs of a model of breaks; return their number."),
    bind<series_learn>("series_learn", "Write what a series model knows after a series."),
    bind<series_run>("series_run", "Learn observations; write their log densities, means and variances."),
    bind<series_size>("series_size", "Return how many numbers a series model has."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_series_models(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
