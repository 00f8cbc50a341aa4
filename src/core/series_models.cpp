// Functions of the module that predict a series by models without hidden states.
#include "series_models.hpp"

#include "novelty.hpp"
#include "objects.hpp"

namespace normalhedge::python {

namespace {

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
        run_series(process, model, columns, seen, logs.data, means.data, variances.data, 1, columns);
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
