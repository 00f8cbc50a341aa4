// Functions of the module that fit hidden Markov models.
#include "python.hpp"

#include <cstring>
#include <stdexcept>

#include "em.hpp"
#include "objects.hpp"
#include "online_em.hpp"

namespace normalhedge {

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

size_t one(size_t columns) {
    require(columns == 1, "this family has one column");
    return columns;
}

// Call a function with the family of this name. `rows` are those of its parameters.
template <class Work>
auto with_family(FamilyName given, size_t columns, size_t rows, Row guards, const Work& work) {
    require(guards.n == 3 && columns > 0, sizes);
    const Guards limits{guards[0], guards[1], guards[2]};
    const auto is = [&](const char* name) { return std::strcmp(given.name, name) == 0; };
    if (is("gaussian") && columns == 1) return work(Normal{{{columns, limits}}});
    if (is("gaussian")) return work(Gaussian{{columns, limits}});
    if (is("full")) return work(Covariant{{columns, limits}});
    if (is("student")) return work(Student{{one(columns), limits}});
    if (is("autoregressive")) return work(Autoregressive{{one(columns), limits}});
    if (is("poisson")) return work(Poisson{{one(columns), limits}});
    if (is("negative_binomial")) return work(NegativeBinomial{{one(columns), limits}});
    if (is("categorical")) return work(Categorical{{one(columns), limits}, rows});
    throw std::invalid_argument("the core does not know this family");
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

std::int64_t em_statistics(FamilyName name, std::int64_t columns, std::int64_t rows) {
    const double none[] = {0.0, 0.0, 0.0};
    require(columns > 0 && rows > 0, sizes);
    return with_family(name, static_cast<size_t>(columns), static_cast<size_t>(rows), {none, 3},
                       [](const auto& family) {
                           return static_cast<std::int64_t>(family.statistics());
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

template <class Family>
Online online_of(const Family& family, Vector<double> filter, Matrix<double> transition,
                 Matrix<double> parameters, Matrix<double> moves, Matrix<double> sums,
                 Vector<double> previous, Vector<double> spread) {
    const size_t k = filter.n;
    require(k > 0 && transition.rows == k && transition.columns == k &&
                parameters.rows == family.rows() && parameters.columns == k &&
                moves.rows == k * k && moves.columns == k && sums.rows == k * family.statistics() &&
                sums.columns == k && previous.n == family.columns &&
                spread.n == 2 * family.columns,
            sizes);
    return {{k, filter.data, transition.data}, parameters.data, moves.data, sums.data, previous.data,
            spread.data};
}

void online_begin(FamilyName name, Row shares, Vector<double> filter, Matrix<double> transition,
                  Matrix<double> parameters, Matrix<double> moves, Matrix<double> sums,
                  Vector<double> previous, Vector<double> spread, Row guards) {
    require(shares.n == filter.n, sizes);
    with_family(name, previous.n, parameters.rows, guards, [&](const auto& family) {
        OnlineFit online(family, online_of(family, filter, transition, parameters, moves, sums,
                                           previous, spread));
        online.begin(shares.data);
    });
}

double online_observe(FamilyName name, Row observation, Vector<double> filter,
                      Matrix<double> transition, Matrix<double> parameters, Matrix<double> moves,
                      Matrix<double> sums, Vector<double> previous, Vector<double> spread,
                      Row guards, double rate, double relative) {
    return with_family(name, previous.n, parameters.rows, guards, [&](const auto& given) {
        const auto family = for_online(given);
        require(observation.n == previous.n, sizes);
        check_values(family, {observation.data, 1, observation.n});
        OnlineFit online(family, online_of(family, filter, transition, parameters, moves, sums,
                                           previous, spread));
        return online.observe(observation.data, rate, relative);
    });
}

void online_run(FamilyName name, Sheet observations, Vector<double> filter,
                Matrix<double> transition, Matrix<double> parameters, Matrix<double> moves,
                Matrix<double> sums, Vector<double> previous, Vector<double> spread, Row guards,
                double rate, double relative, Matrix<double> beliefs, Matrix<double> filtered,
                Cube<double> kept, Vector<double> logs) {
    const size_t rounds = observations.rows;
    require(observations.columns == previous.n && beliefs.rows == rounds &&
                beliefs.columns == filter.n && filtered.rows == rounds &&
                filtered.columns == filter.n && kept.layers == rounds &&
                kept.rows == parameters.rows && kept.columns == parameters.columns &&
                logs.n == rounds,
            sizes);
    with_family(name, previous.n, parameters.rows, guards, [&](const auto& given) {
        const auto family = for_online(given);
        check_values(family, series_of(observations));
        OnlineFit online(family, online_of(family, filter, transition, parameters, moves, sums,
                                           previous, spread));
        for (size_t t = 0; t < rounds; ++t) {
            online.predict(beliefs.row(t));
            std::copy(parameters.data, parameters.data + parameters.rows * parameters.columns,
                      kept.layer(t).data);
            logs[t] = online.observe(observations.row(t), rate, relative);
            std::copy(filter.data, filter.data + filter.n, filtered.row(t));
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
    bind<em_statistics>("em_statistics", "Return how many statistics a state of a family keeps."),
    bind<write_log_gamma>("log_gamma", "Write ln Gamma(x) of numbers above zero."),
    bind<online_begin>("online_begin", "Write the statistics that parameters let expect."),
    bind<online_observe>("online_observe",
                         "Learn an observation in place; return its log density."),
    bind<online_run>("online_run",
                     "Learn observations in place; write what was known before each of them."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_fitting(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge
