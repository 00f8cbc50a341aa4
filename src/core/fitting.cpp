// Functions of the module that fit hidden Markov models.
#include "fitting.hpp"

#include <algorithm>

#include "em_lanes.hpp"
#include "moving.hpp"
#include "objects.hpp"

namespace normalhedge::python {

namespace {

void em_log_densities(FamilyName name, Sheet observations, Matrix<double> parameters,
                      Matrix<double> result) {
    const double none[] = {0.0, 0.0, 0.0};
    with_family(name, observations.columns, parameters.rows, {none, 3}, [&](const auto& family) {
        require(parameters.rows == family.rows() && result.rows == observations.rows &&
                    result.columns == parameters.columns,
                sizes);
        check_values(family, series_of(observations));
        write_log_densities(family, series_of(observations), parameters.data, parameters.columns,
                            result.data);
    });
}

double em_expect(Sheet logs, Row initial, Sheet transition, Matrix<double> smoothed,
                 Matrix<double> moves) {
    const size_t k = initial.n;
    require(k > 0 && logs.columns == k && transition.rows == k && transition.columns == k &&
                smoothed.rows == logs.rows && smoothed.columns == k && moves.rows == k &&
                moves.columns == k,
            sizes);
    Expected room(logs.rows, k);
    std::copy(logs.data, logs.data + logs.rows * k, room.table.begin());
    std::vector<double> first(initial.data, initial.data + k);
    std::vector<double> steps(transition.data, transition.data + k * k);
    const double total = expect({k, first.data(), steps.data()}, logs.rows, room);
    std::copy(room.table.begin(), room.table.end(), smoothed.data);
    std::copy(room.moves.begin(), room.moves.end(), moves.data);
    return total;
}

std::tuple<double, std::int64_t> em_fit(FamilyName name, Sheet observations,
                                        Vector<double> initial, Matrix<double> transition,
                                        Matrix<double> parameters, std::optional<Sheet> start,
                                        Row guards, double tolerance, Vector<double> trace) {
    const size_t k = initial.n;
    require(k > 0 && transition.rows == k && transition.columns == k && parameters.columns == k &&
                trace.n > 0 && (!start || (start->rows == observations.rows && start->columns == k)),
            sizes);
    return with_family(
        name, observations.columns, parameters.rows, guards,
        [&](const auto& family) -> std::tuple<double, std::int64_t> {
            require(parameters.rows == family.rows(), sizes);
            check_values(family, series_of(observations));
            const Ended ended =
                fit(family, series_of(observations), {k, initial.data, transition.data},
                    parameters.data, start ? start->data : nullptr, {trace.n - 1, tolerance},
                    trace.data);
            return {ended.log_likelihood, static_cast<std::int64_t>(ended.iterations)};
        });
}

// Fit models with one column of real numbers side by side, in place; see em_lanes.hpp. A model has a row of
// `shapes`: 1 for Student's t or 0 for normal, its first round, how many iterations it has done and may do,
// whether the next one is thorough (2 before it has started), and whether it has ended; and a row of `units`: centre and width. Its row of
// `divisions` begins with its first round and holds the states to start from, or -1 first where the
// parameters are the start. At most `calls` iterations of up to eight models, and starts of as many: results do not depend
// on how they are divided into calls.
void em_fit_lanes(Row series, Matrix<std::int64_t> shapes, Sheet units, Matrix<double> initial,
                  Cube<double> transition, Cube<double> parameters,
                  Matrix<const std::int64_t> divisions, Row guards, double tolerance,
                  std::int64_t calls, Matrix<double> traces, Vector<double> totals) {
    const size_t models = shapes.rows, k = initial.columns;
    require(models > 0 && k > 0 && shapes.columns == 6 && units.rows == models &&
                units.columns == 2 && initial.rows == models && transition.layers == models &&
                transition.rows == k && transition.columns == k && parameters.layers == models &&
                parameters.rows == 3 && parameters.columns == k && divisions.rows == models &&
                guards.n == 3 && traces.rows == models && totals.n == models && series.n > 0,
            sizes);
    std::vector<Laned> all;
    std::vector<Laned*> running, begun;
    std::vector<const std::int64_t*> starts;
    all.reserve(models);
    for (size_t m = 0; m < models; ++m) {
        std::int64_t* const shape = shapes.row(m);
        require(shape[1] >= 0 && shape[1] < static_cast<std::int64_t>(series.n) && shape[2] >= 0 &&
                    shape[2] <= shape[3] && shape[3] < static_cast<std::int64_t>(traces.columns),
                sizes);
        const auto first = static_cast<size_t>(shape[1]);
        all.push_back({shape[0] != 0, first, units.row(m)[0], units.row(m)[1],
                       Chain{k, initial.row(m), transition.layer(m).data}, parameters.layer(m).data,
                       static_cast<size_t>(shape[3]), traces.row(m), static_cast<size_t>(shape[2]),
                       totals[m], shape[4] != 0, shape[5] != 0});
        if (!all.back().ended) running.push_back(&all.back());
        if (shape[4] != 2) continue;
        all.back().thorough = true;
        shape[4] = 1;
        if (divisions.columns == 0 || divisions.row(m)[0] < 0) continue;
        require(divisions.columns >= series.n - first, sizes);
        for (size_t t = 0; t + first < series.n; ++t)
            require(divisions.row(m)[t] >= 0 && divisions.row(m)[t] < static_cast<std::int64_t>(k),
                    sizes);
        begun.push_back(&all.back());
        starts.push_back(divisions.row(m));
    }
    LaneFits fits(series.data, series.n, {guards[0], guards[1], guards[2]}, tolerance);
    size_t started = 0;
    for (; started < begun.size() && calls > 0; --calls) {
        const size_t width = std::min(lanes_for(k), begun.size() - started);
        fits.start(begun.data() + started, width, starts.data() + started);
        started += width;
    }
    fits.run(running, calls);
    for (size_t m = 0; m < models; ++m) {
        std::int64_t* const shape = shapes.row(m);
        shape[2] = static_cast<std::int64_t>(all[m].done);
        const bool waits = std::find(begun.begin() + static_cast<std::ptrdiff_t>(started), begun.end(), &all[m]) != begun.end();
        shape[4] = waits ? 2 : all[m].thorough;
        shape[5] = all[m].ended;
        totals[m] = all[m].log_likelihood;
    }
}

Blocks blocks_of(size_t rounds, std::int64_t length) {
    require(length > 0, "a block must have a round");
    return {rounds, static_cast<size_t>(length)};
}

// A chain with numbers that the core may change.
struct OwnChain {
    std::vector<double> initial, transitions;
    MovingChain chain;

    OwnChain(Row first, Cube<const double> steps, size_t rounds, std::int64_t length)
        : initial(first.data, first.data + first.n),
          transitions(steps.data, steps.data + steps.layers * steps.rows * steps.columns),
          chain{first.n, initial.data(), transitions.data(), blocks_of(rounds, length)} {
        require(first.n > 0 && steps.layers == chain.blocks.count() && steps.rows == first.n &&
                    steps.columns == first.n,
                sizes);
    }
};

double moving_expect(Sheet logs, Row initial, Cube<const double> transitions, std::int64_t length,
                     Matrix<double> smoothed) {
    const OwnChain own(initial, transitions, logs.rows, length);
    const size_t k = initial.n;
    require(logs.columns == k && smoothed.rows == logs.rows && smoothed.columns == k, sizes);
    std::copy(logs.data, logs.data + logs.rows * k, smoothed.data);
    std::vector<double> moves(own.transitions.size());
    return expect_moving(own.chain, smoothed.data, moves.data());
}

double moving_path(Sheet logs, Row initial, Cube<const double> transitions, std::int64_t length,
                   Vector<std::int64_t> path) {
    const OwnChain own(initial, transitions, logs.rows, length);
    require(logs.columns == initial.n && path.n == logs.rows, sizes);
    return most_probable_path(own.chain, logs.data, path.data);
}

std::tuple<double, std::int64_t> moving_fit(FamilyName name, Sheet observations,
                                            std::int64_t length, Row keep, Vector<double> initial,
                                            Cube<double> transitions, Cube<double> parameters,
                                            std::optional<Sheet> start, Row guards,
                                            std::int64_t iterations, double tolerance,
                                            Matrix<double> logs) {
    const size_t k = initial.n;
    const Blocks blocks = blocks_of(observations.rows, length);
    require(k > 0 && keep.n == 2 && iterations >= 0 && transitions.layers == blocks.count() &&
                transitions.rows == k && transitions.columns == k &&
                parameters.layers == blocks.count() && parameters.columns == k &&
                logs.rows == observations.rows && logs.columns == k &&
                (!start || (start->rows == observations.rows && start->columns == k)),
            sizes);
    return with_family(
        name, observations.columns, parameters.rows, guards,
        [&](const auto& family) -> std::tuple<double, std::int64_t> {
            require(parameters.rows == family.rows(), sizes);
            check_values(family, series_of(observations));
            const Ended ended = fit_moving(
                family, series_of(observations), {k, initial.data, transitions.data, blocks},
                parameters.data, start ? start->data : nullptr, {keep[0], keep[1]},
                {static_cast<size_t>(iterations), tolerance}, logs.data);
            return {ended.log_likelihood, static_cast<std::int64_t>(ended.iterations)};
        });
}

std::int64_t online_family(FamilyName family) {
    return static_cast<std::int64_t>(family_place(family));
}

void write_online_layout(Shape shape, std::int64_t columns, Vector<std::int64_t> places) {
    const double none[] = {0.0, 0.0, 0.0};
    require(places.n == online_fields + 1 && columns > 0, sizes);
    with_online(shape, {none, 3}, static_cast<size_t>(columns),
                [&](const auto&, const auto& layout) {
                    std::copy(layout.begin(), layout.end(), places.data);
                });
}

void online_begin(Shape shape, Row settings, std::int64_t columns, Row shares,
                  Vector<double> block) {
    require(columns > 0, sizes);
    with_online(shape, settings, static_cast<size_t>(columns), block,
                [&](const auto& family, const Online& now) {
                    require(shares.n == now.chain.states, sizes);
                    OnlineFit(family, now).begin(shares.data);
                });
}

void online_run(Shape shape, Row settings, Sheet observations, Vector<double> block,
                Matrix<double> beliefs, Matrix<double> filtered, Cube<double> kept,
                Vector<double> logs) {
    const size_t rounds = observations.rows;
    with_online(shape, settings, observations.columns, block,
                [&](const auto& family, const Online& now) {
        const size_t k = now.chain.states, rows = family.rows();
        require(beliefs.rows == rounds && beliefs.columns == k && filtered.rows == rounds &&
                    filtered.columns == k && kept.layers == rounds && kept.rows == rows &&
                    kept.columns == k && logs.n == rounds,
                sizes);
        check_values(family, series_of(observations));
        OnlineFit online(family, now);
        for (size_t t = 0; t < rounds; ++t) {
            online.predict(beliefs.row(t));
            std::copy(now.parameters, now.parameters + rows * k, kept.layer(t).data);
            logs[t] = online.observe(observations.row(t), settings[0], settings[1]);
            std::copy(now.chain.initial, now.chain.initial + k, filtered.row(t));
        }
    });
}

void write_log_gamma(Row x, Vector<double> result) {
    require(x.n == result.n, "both arrays must have the same length");
    for (size_t i = 0; i < x.n; ++i) result[i] = log_gamma(x[i]);
}

PyMethodDef functions[] = {
    bind<em_expect>("em_expect",
                    "Write smoothed states and expected transitions; return the log likelihood."),
    bind<em_fit>("em_fit",
                 "Fit a hidden Markov model in place; return log likelihood and iterations."),
    bind<em_fit_lanes>("em_fit_lanes",
                       "Fit models of one column of real numbers side by side, in place."),
    bind<em_log_densities>("em_log_densities",
                           "Write the log density of each observation in each state."),
    bind<moving_expect>("moving_expect",
                        "Write smoothed states of a chain that moves; return the log likelihood."),
    bind<moving_fit>("moving_fit",
                     "Fit a model that moves in place; return log likelihood and iterations."),
    bind<moving_path>("moving_path",
                      "Write the most probable states; return the log density of states and series."),
    bind<write_log_gamma>("log_gamma", "Write ln Gamma(x) of numbers above zero."),
    bind<online_begin>("online_begin", "Write the statistics that parameters let expect."),
    bind<online_family>("online_family", "Return the number of a family in `shapes`."),
    bind<online_run>("online_run",
                     "Update a model with observations; write beliefs and parameters before each."),
    bind<write_online_layout>("online_layout", "Write where the fields of a model begin."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_fitting(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
