// Functions of the module that fit hidden Markov models.
#include "python.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "moving.hpp"
#include "objects.hpp"
#include "online_em.hpp"

namespace normalhedge::python {

using namespace latent;

struct FamilyName {
    const char* name;
};

template <>
struct From<FamilyName> {
    static FamilyName get(PyObject* object) {
        const char* name = PyUnicode_AsUTF8(object);
        if (!name) throw PythonError();
        return {name};
    }
};

namespace {

using Row = Vector<const double>;
using Sheet = Matrix<const double>;

constexpr const char* sizes = "the arrays of a fit must be of one size";

void require(bool fits, const char* words) {
    if (!fits) throw std::invalid_argument(words);
}

template <class... Family>
constexpr std::array<const char*, sizeof...(Family)> names_of(const std::tuple<Family...>*) {
    return {Family::name...};
}
constexpr auto family_names = names_of(static_cast<const Families*>(nullptr));

size_t family_place(FamilyName family) {
    for (size_t i = 0; i < family_names.size(); ++i)
        if (std::strcmp(family.name, family_names[i]) == 0) return i;
    throw std::invalid_argument("the core does not know this family");
}

template <class Family>
Family make_family(size_t columns, size_t rows, const Guards& guards) {
    require(columns == 1 || !Family::one_column, "this family has one column");
    Family family{};
    family.columns = columns;
    family.guards = guards;
    if constexpr (std::is_same_v<Family, Categorical>) family.symbols = rows;
    return family;
}

// Call a function with the family at this place; `rows` counts its parameters.
template <size_t candidate = 0, class Work>
auto with_family(size_t place, size_t columns, size_t rows, Row guards, const Work& work) {
    using Family = std::tuple_element_t<candidate, Families>;
    if (place == candidate) {
        require(guards.n == 3 && columns > 0, sizes);
        const Guards limits{guards[0], guards[1], guards[2]};
        if constexpr (std::is_same_v<Family, Gaussian>)
            if (columns == 1) return work(make_family<Normal>(columns, rows, limits));
        return work(make_family<Family>(columns, rows, limits));
    }
    if constexpr (candidate + 1 < family_names.size())
        return with_family<candidate + 1>(place, columns, rows, guards, work);
    else
        throw std::invalid_argument(sizes);
}
template <class Work>
auto with_family(FamilyName family, size_t columns, size_t rows, Row guards, const Work& work) {
    return with_family(family_place(family), columns, rows, guards, work);
}

Series series_of(Sheet observations) {
    return {observations.data, observations.rows, observations.columns};
}

// Whether symbols have probabilities and counts have factorials.
template <class Family>
void check_values(const Family&, const Series&) {}
void check_values(const Categorical& family, const Series& series) {
    for (size_t t = 0; t < series.rounds; ++t) {
        const double y = series.data[t];
        require(y != y || (y >= 0.0 && y < static_cast<double>(family.symbols)),
                "an observation must be one of the symbols");
    }
}
void check_counts(const Series& series) {
    for (size_t t = 0; t < series.rounds; ++t)
        require(!(series.data[t] < 0.0), "counts must not be negative");
}
void check_values(const Poisson&, const Series& series) { check_counts(series); }
void check_values(const NegativeBinomial&, const Series& series) { check_counts(series); }

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

template <class Family>
Family for_online(const Family& family) {
    return family;
}
NegativeBinomial for_online(const NegativeBinomial& family) {
    NegativeBinomial result = family;
    result.by_moments = true;
    return result;
}

// Models that learn online lie in one block of numbers, one after the other. A model has a row of
// `shapes`: the place of its family, its states, the rows of its parameters and where it begins in the
// block; and a row of `settings`: rate, relative floor, and the three guards.
constexpr size_t shape_numbers = 4, setting_numbers = 5, online_fields = 7;

using Shape = Vector<const std::int64_t>;

// Where the fields of a model begin, and where the last one ends. Fields in the order of `Online`:
// filter, transition, parameters, moves, sums, previous, spread.
template <class Family>
std::array<size_t, online_fields + 1> online_layout(const Family& family, size_t begin, size_t k) {
    const size_t sizes[] = {k, k * k, family.rows() * k, k * k * k, k * family.statistics() * k,
                            family.columns, 2 * family.columns};
    std::array<size_t, online_fields + 1> result{begin};
    for (size_t i = 0; i < online_fields; ++i) result[i + 1] = result[i] + sizes[i];
    return result;
}

// Call a function with a model: its family and its layout.
template <class Work>
auto with_online(Shape shape, Row guards, size_t columns, const Work& work) {
    constexpr std::int64_t most = 1 << 20;
    require(shape.n == shape_numbers && shape[0] >= 0 &&
                shape[0] < static_cast<std::int64_t>(family_names.size()) && shape[1] > 0 &&
                shape[1] < most && shape[2] > 0 && shape[2] < most && shape[3] >= 0,
            sizes);
    const auto rows = static_cast<size_t>(shape[2]);
    return with_family(static_cast<size_t>(shape[0]), columns, rows, guards, [&](const auto& batch_family) {
        const auto family = for_online(batch_family);
        require(rows == family.rows(), sizes);
        return work(family, online_layout(family, static_cast<size_t>(shape[3]),
                                          static_cast<size_t>(shape[1])));
    });
}

// The same with the numbers of the model, which are part of a block.
template <class Work>
auto with_online(Shape shape, Row settings, size_t columns, Vector<double> block, const Work& work) {
    require(settings.n == setting_numbers, sizes);
    return with_online(shape, {settings.data + 2, 3}, columns,
                       [&](const auto& family, const auto& places) {
                           require(places[online_fields] <= block.n, sizes);
                           double* const at = block.data;
                           return work(family, Online{{static_cast<size_t>(shape[1]), at + places[0],
                                                       at + places[1]},
                                                      at + places[2], at + places[3], at + places[4],
                                                      at + places[5], at + places[6]});
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

void online_observe(Matrix<const std::int64_t> shapes, Sheet settings, Sheet observations,
                    Vector<double> block, Vector<double> logs, Matrix<double> filtered) {
    const size_t columns = observations.columns;
    require(shapes.rows == settings.rows && observations.rows == shapes.rows &&
                logs.n == shapes.rows && filtered.rows == shapes.rows,
            sizes);
    for (size_t m = 0; m < shapes.rows; ++m)
        with_online({shapes.row(m), shapes.columns}, {settings.row(m), settings.columns}, columns,
                    block, [&](const auto& family, const Online& now) {
                        require(now.chain.states <= filtered.columns, sizes);
                        check_values(family, {observations.row(m), 1, columns});
                        OnlineFit online(family, now);
                        logs[m] = online.observe(observations.row(m), settings.row(m)[0],
                                                 settings.row(m)[1]);
                        const double* f = now.chain.initial;
                        std::copy(f, f + now.chain.states, filtered.row(m));
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
    bind<online_observe>("online_observe",
                         "Update all models of a block with an observation; write log densities."),
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
